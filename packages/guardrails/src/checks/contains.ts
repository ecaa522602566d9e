import { setImmediate } from 'node:timers/promises';
import type { ParametersOf } from '@sluice/contracts/checks';
import { CheckError, type CheckFunction } from '../check.ts';
import { satisfies } from '../satisfies.ts';
import { type TextFinding, textCheck } from '../text-check.ts';

/** Case-sensitive, and anywhere in the text: "cat" is in "concatenate". */
export function contains({
  words,
  operator,
  subjects,
}: ParametersOf<'default.contains'>): CheckFunction {
  const look = (text: string) => {
    if (words.length * text.length > searchedMax)
      throw new CheckError(
        'TextTooLong',
        `The text is too long to be searched for ${words.length} words.`,
      );
    const found = wordsIn(text, words);
    return found instanceof Promise ? found.then(finding) : finding(found);
  };
  return textCheck({ not: false, subjects }, look, { seeks: operator === 'none' });

  function finding(foundWords: readonly string[]): TextFinding {
    const missingWords = words.filter((word) => !foundWords.includes(word));
    return {
      passes: satisfies(operator, foundWords.length, words.length),
      explanation: `The text contains ${foundWords.length} of ${words.length} words; "${operator}" is asked for.`,
      data: { operator, foundWords: [...foundWords], missingWords },
    };
  }
}

/** Others have their turn between words, where the text is long. */
function wordsIn(text: string, words: readonly string[]): string[] | Promise<string[]> {
  const atOnce = Math.max(1, Math.floor(searchedInTurn / text.length));
  const isIn = (word: string) => text.includes(word);
  if (words.length <= atOnce) return words.filter(isIn);
  return (async () => {
    const found: string[] = [];
    for (let at = 0; at < words.length; at += atOnce) {
      if (at > 0) await setImmediate();
      found.push(...words.slice(at, at + atOnce).filter(isIn));
    }
    return found;
  })();
}

/** Characters looked at for all words together: some 50 ms of the native search, of letters that are two bytes. */
const searchedMax = 1_000_000_000;
const searchedInTurn = 100_000_000;
