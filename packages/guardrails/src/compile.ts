import type { CheckDeclarations, ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from './check.ts';

/**
 * Makes a check of its parameters, once for each check of a config.
 * @throws CheckError when no check can be made of them
 */
export type Compile<Id extends keyof CheckDeclarations> = (
  parameters: ParametersOf<Id>,
) => CheckFunction;

/** What each check of a family does. */
export type CompilersOf<Family extends Partial<CheckDeclarations>> = {
  readonly [Id in keyof Family & keyof CheckDeclarations]: Compile<Id>;
};
