import type { z } from 'zod';
import type { CheckDeclaration } from './declaration.ts';
import { askingChecks } from './families/asking-checks.ts';
import { attackChecks } from './families/attack-checks.ts';
import { callChecks } from './families/call-checks.ts';
import { detectionChecks } from './families/detection-checks.ts';
import { imageChecks } from './families/image-checks.ts';
import { partnerChecks } from './families/partner-checks.ts';
import { schemaChecks } from './families/schema-checks.ts';
import { textChecks } from './families/text-checks.ts';
import { wordingChecks } from './families/wording-checks.ts';

/** The checks that the gateway runs, family by family. */
export const checkDeclarations = {
  ...textChecks,
  ...callChecks,
  ...schemaChecks,
  ...detectionChecks,
  ...attackChecks,
  ...wordingChecks,
  ...imageChecks,
  ...askingChecks,
  ...partnerChecks,
} satisfies Record<string, CheckDeclaration>;

export type CheckDeclarations = typeof checkDeclarations;
export type CheckId = keyof CheckDeclarations;

export type ParametersOf<Id extends CheckId> = z.output<CheckDeclarations[Id]['parameters']>;

/** Of checks that other services make. */
export type PartnerId = keyof typeof partnerChecks;
