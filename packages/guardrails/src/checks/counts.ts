import { textsOf } from '@sluice/providers';
import type { CheckKind } from '../check.ts';
import { flag, optionalInteger, requiredNumber } from '../parameters.ts';
import { checkedSubject, excerpt, textCheck } from '../text-check.ts';

/** Counts closing marks, so an empty text has no sentences; that is a count, not a fault. */
export const sentenceCount: CheckKind = {
  id: 'default.sentenceCount',
  compile(parameters) {
    const minSentences = requiredNumber(parameters, 'minSentences');
    const maxSentences = requiredNumber(parameters, 'maxSentences');
    const not = flag(parameters, 'not');
    return (context) => {
      const text = checkedSubject(textsOf(context).joined);
      const count = sentencesIn(text);
      const verdict = isWithin(count, minSentences, maxSentences) !== not;
      const explanation = explain(count, 'sentences', minSentences, maxSentences);
      return {
        verdict,
        data: {
          verdict,
          not,
          explanation,
          sentenceCount: count,
          minSentences,
          maxSentences,
          textExcerpt: excerpt(text),
        },
      };
    };
  },
};

export const wordCount = textCheck('default.wordCount', (parameters) => {
  const minWords = optionalInteger(parameters, 'minWords', 0);
  const maxWords = optionalInteger(parameters, 'maxWords', 99_999);
  return (text) => {
    const count = wordsIn(text);
    return {
      passes: isWithin(count, minWords, maxWords),
      explanation: explain(count, 'words', minWords, maxWords),
      data: { wordCount: count, minWords, maxWords },
    };
  };
});

/** UTF-16 code units, as JavaScript counts. */
export const characterCount = textCheck('default.characterCount', (parameters) => {
  const minCharacters = optionalInteger(parameters, 'minCharacters', 0);
  const maxCharacters = optionalInteger(parameters, 'maxCharacters', 9_999_999);
  return (text) => ({
    passes: isWithin(text.length, minCharacters, maxCharacters),
    explanation: explain(text.length, 'characters', minCharacters, maxCharacters),
    data: { characterCount: text.length, minCharacters, maxCharacters },
  });
});

function sentencesIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // . ! ?
    if (unit === 0x2e || unit === 0x21 || unit === 0x3f) count++;
  }
  return count;
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
  return unit >= 0xa0 && otherWhiteSpace.has(unit);
}

const otherWhiteSpace: ReadonlySet<number> = new Set([
  0xa0,
  0x1680,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
  0xfeff,
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
]);

function isWithin(count: number, min: number, max: number): boolean {
  return count >= min && count <= max;
}

function explain(count: number, what: string, min: number, max: number): string {
  const where = isWithin(count, min, max) ? 'within' : 'outside';
  return `The text has ${count} ${what}, ${where} the limits of ${min} to ${max}.`;
}
