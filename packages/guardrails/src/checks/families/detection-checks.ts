import type { detectionChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { pii } from '../pii.ts';

export const detectionCompilers: CompilersOf<typeof detectionChecks> = {
  'default.pii': pii,
};
