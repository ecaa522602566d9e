import type { CheckDeclarations } from '@sluice/contracts/checks';
import type { CompilersOf } from '../compile.ts';
import { askingCompilers } from './families/asking-checks.ts';
import { attackCompilers } from './families/attack-checks.ts';
import { callCompilers } from './families/call-checks.ts';
import { detectionCompilers } from './families/detection-checks.ts';
import { imageCompilers } from './families/image-checks.ts';
import { partnerCompilers } from './families/partner-checks.ts';
import { schemaCompilers } from './families/schema-checks.ts';
import { textCompilers } from './families/text-checks.ts';
import { wordingCompilers } from './families/wording-checks.ts';

/**
 * What each check does, family by family. A new one is declared in contracts;
 * then the compiler asks for its line here.
 */
export const compilers: CompilersOf<CheckDeclarations> = {
  ...textCompilers,
  ...callCompilers,
  ...schemaCompilers,
  ...detectionCompilers,
  ...attackCompilers,
  ...wordingCompilers,
  ...imageCompilers,
  ...askingCompilers,
  ...partnerCompilers,
};
