import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { textCheck } from '../text-check.ts';

/** Only ASCII letters count: digits, marks and other scripts have no case here. */
export function allUppercase({
  not,
  subjects,
}: ParametersOf<'default.alluppercase'>): CheckFunction {
  return textCheck({ not, subjects }, (text) => {
    const passes = !/[a-z]/.test(text);
    return { passes, explanation: `The text ${passes ? 'has no' : 'has'} lower-case letters.` };
  });
}
