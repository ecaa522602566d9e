import type { CheckDeclaration } from '../declaration.ts';
import { azureChecks } from '../partners/azure.ts';
import { bedrockChecks } from '../partners/bedrock.ts';
import { serviceChecks } from '../partners/service.ts';

/** Checks that other services make. */
export const partnerChecks = {
  ...azureChecks,
  ...bedrockChecks,
  ...serviceChecks,
} satisfies Record<string, CheckDeclaration>;
