import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { explainLimits, isWithin } from '../limits.ts';
import { textCheck } from '../text-check.ts';

export function wordCount({
  minWords,
  maxWords,
  not,
  subjects,
}: ParametersOf<'default.wordCount'>): CheckFunction {
  return textCheck({ not, subjects }, (text) => {
    const count = wordsIn(text);
    return {
      passes: isWithin(count, minWords, maxWords),
      explanation: explainLimits(count, 'words', minWords, maxWords),
      data: { wordCount: count, minWords, maxWords },
    };
  });
}

/** Runs of what is not white space. A match object for each would cost ten times as much. */
function wordsIn(text: string): number {
  let count = 0;
  let isWithinWord = false;
  for (let at = 0; at < text.length; at++) {
    const isBlank = isWhiteSpace(text.charCodeAt(at));
    if (!isBlank && !isWithinWord) count++;
    isWithinWord = !isBlank;
  }
  return count;
}

/** As `\s` of a pattern. */
function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0xa0;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}
