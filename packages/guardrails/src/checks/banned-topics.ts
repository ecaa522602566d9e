import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckContext, CheckFunction, CheckOutcome } from '../check.ts';
import { countInTurns } from '../terms/count-in-turns.ts';
import { TermFinder } from '../terms/find-terms.ts';
import { likenessOf } from '../terms/likeness.ts';

type Parameters = ParametersOf<'default.bannedTopics'>;

/** Topics that the config’s author does not want spoken of, each by its words, or by what is said of it. */
export function bannedTopics(parameters: Parameters): CheckFunction {
  const { topics, allow, subjects } = parameters;
  const lists = topics.map(({ name, words }) => ({ name, terms: words }));
  const byWords = countInTurns(new TermFinder(lists, [], allow), subjects, (detected) => {
    const found = topics
      .filter(({ name, words, minWords }) => words.length > 0 && (detected[name] ?? 0) >= minWords)
      .map(({ name }) => name);
    return outcomeOf(found, parameters, { detected });
  });
  if (topics.every(({ examples }) => examples.length === 0)) return byWords;
  return async (context) => {
    const outcome = await byWords(context);
    // A vector costs money: where words decide nobody is asked for one.
    if (namesIn(outcome).length > 0) return outcome;
    return byLikeness(context, parameters);
  };
}

async function byLikeness(context: CheckContext, parameters: Parameters): Promise<CheckOutcome> {
  const { topics, similarity = 1, embedding, subjects } = parameters;
  const text = textsOf(context, subjects).joined;
  const likeness = await likenessOf(context, text, topics, embedding);
  const found = Object.keys(likeness).filter((name) => (likeness[name] ?? 0) >= similarity);
  return outcomeOf(found, parameters, { likeness });
}

function outcomeOf(found: string[], { not }: Parameters, more: CheckOutcome['data']): CheckOutcome {
  const verdict = (found.length === 0) !== not;
  const explanation =
    found.length === 0 ? 'No banned topic was found.' : `Speaks of ${found.join(', ')}.`;
  return { verdict, data: { verdict, not, explanation, topics: found, ...more } };
}

function namesIn({ data }: CheckOutcome): readonly unknown[] {
  return Array.isArray(data.topics) ? data.topics : [];
}
