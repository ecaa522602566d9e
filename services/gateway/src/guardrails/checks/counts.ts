import { textsOf } from '../texts.ts';
import type { CheckKind } from './check.ts';
import { flag, optionalInteger, requiredNumber } from './parameters.ts';
import { excerpt, textCheck } from './text-check.ts';

/** Counts closing marks, so an empty text has no sentences; that is a count, not a fault. */
export const sentenceCount: CheckKind = {
  id: 'default.sentenceCount',
  compile(parameters) {
    const minSentences = requiredNumber(parameters, 'minSentences');
    const maxSentences = requiredNumber(parameters, 'maxSentences');
    const not = flag(parameters, 'not');
    return (context) => {
      const text = textsOf(context).joined;
      const count = countOf(text, /[.!?]/g);
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
    const count = countOf(text, /\S+/g);
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

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _match of text.matchAll(pattern)) count++;
  return count;
}

function isWithin(count: number, min: number, max: number): boolean {
  return count >= min && count <= max;
}

function explain(count: number, what: string, min: number, max: number): string {
  const where = isWithin(count, min, max) ? 'within' : 'outside';
  return `The text has ${count} ${what}, ${where} the limits of ${min} to ${max}.`;
}
