import type { ParametersOf } from '@sluice/contracts/checks';
import { CheckError, type CheckFunction } from '../check.ts';
import { satisfies } from '../satisfies.ts';
import { textCheck } from '../text-check.ts';

/** Case-sensitive, and anywhere in the text: "cat" is in "concatenate". */
export function contains({
  words,
  operator,
  subjects,
}: ParametersOf<'default.contains'>): CheckFunction {
  return textCheck({ not: false, subjects }, (text) => {
    if (words.length * text.length > searchedMax)
      throw new CheckError(
        'TextTooLong',
        `The text is too long to be searched for ${words.length} words.`,
      );
    const foundWords = words.filter((word) => text.includes(word));
    const missingWords = words.filter((word) => !foundWords.includes(word));
    return {
      passes: satisfies(operator, foundWords.length, words.length),
      explanation: `The text contains ${foundWords.length} of ${words.length} words; "${operator}" is asked for.`,
      data: { operator, foundWords, missingWords },
    };
  });
}

/** Characters looked at for all words together: some 25 ms of the native search. */
const searchedMax = 1_000_000_000;
