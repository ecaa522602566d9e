import { allAnyNone, satisfies } from '../all-any-none.ts';
import { CheckError } from '../check.ts';
import { choice, requiredText, requiredTexts } from '../parameters.ts';
import { textCheck } from '../text-check.ts';

/** Case-sensitive, and anywhere in the text: "cat" is in "concatenate". */
export const contains = textCheck('default.contains', (parameters) => {
  const words = requiredTexts(parameters, 'words');
  const operator = choice(parameters, 'operator', allAnyNone);
  return (text) => {
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
  };
});

/** Characters looked at for all words together: some 25 ms of the native search. */
const searchedMax = 1_000_000_000;

/** A full stop may follow the suffix. */
export const endsWith = textCheck('default.endsWith', (parameters) => {
  const suffix = requiredText(parameters, 'suffix');
  return (text) => {
    const passes = text.endsWith(suffix) || text.endsWith(`${suffix}.`);
    return {
      passes,
      explanation: `The text ${passes ? 'ends' : 'does not end'} with "${suffix}".`,
      data: { suffix },
    };
  };
});
