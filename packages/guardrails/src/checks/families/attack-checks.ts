import type { attackChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { promptInjection } from '../prompt-injection.ts';

export const attackCompilers: CompilersOf<typeof attackChecks> = {
  'default.promptInjection': promptInjection,
};
