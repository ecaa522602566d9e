import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';
import { explainLimits, isWithin } from '../limits.ts';
import { checkedSubject, excerpt } from '../text-check.ts';

/** Counts closing marks, so an empty text has no sentences; that is a count, not a fault. */
export function sentenceCount({
  minSentences,
  maxSentences,
  not,
  subjects,
}: ParametersOf<'default.sentenceCount'>): CheckFunction {
  return (context) => {
    const text = checkedSubject(textsOf(context, subjects).joined);
    const count = sentencesIn(text);
    const verdict = isWithin(count, minSentences, maxSentences) !== not;
    return {
      verdict,
      data: {
        verdict,
        not,
        explanation: explainLimits(count, 'sentences', minSentences, maxSentences),
        sentenceCount: count,
        minSentences,
        maxSentences,
        textExcerpt: excerpt(text),
      },
    };
  };
}

function sentencesIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // . ! ?
    if (unit === 0x2e || unit === 0x21 || unit === 0x3f) count++;
  }
  return count;
}
