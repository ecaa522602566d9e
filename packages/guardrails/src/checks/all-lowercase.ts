import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { textCheck } from '../text-check.ts';

/** Only ASCII letters count: digits, marks and other scripts have no case here. */
export function allLowercase({
  not,
  subjects,
}: ParametersOf<'default.alllowercase'>): CheckFunction {
  return textCheck({ not, subjects }, (text) => {
    const passes = !/[A-Z]/.test(text);
    return { passes, explanation: `The text ${passes ? 'has no' : 'has'} upper-case letters.` };
  });
}
