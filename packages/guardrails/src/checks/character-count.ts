import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { explainLimits, isWithin } from '../limits.ts';
import { textCheck } from '../text-check.ts';

/** UTF-16 code units, as JavaScript counts. */
export function characterCount({
  minCharacters,
  maxCharacters,
  not,
  subjects,
}: ParametersOf<'default.characterCount'>): CheckFunction {
  return textCheck({ not, subjects }, (text) => ({
    passes: isWithin(text.length, minCharacters, maxCharacters),
    explanation: explainLimits(text.length, 'characters', minCharacters, maxCharacters),
    data: { characterCount: text.length, minCharacters, maxCharacters },
  }));
}
