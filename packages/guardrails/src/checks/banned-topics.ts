import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { countInTurns } from '../terms/count-in-turns.ts';
import { TermFinder } from '../terms/find-terms.ts';

/** Topics that the config’s author does not want spoken of, each by its words. */
export function bannedTopics({
  topics,
  allow,
  not,
  subjects,
}: ParametersOf<'default.bannedTopics'>): CheckFunction {
  const lists = topics.map(({ name, words }) => ({ name, terms: words }));
  const finder = new TermFinder(lists, [], allow);
  return countInTurns(finder, subjects, (detected) => {
    const found = topics
      .filter(({ name, minWords }) => (detected[name] ?? 0) >= minWords)
      .map(({ name }) => name);
    const verdict = (found.length === 0) !== not;
    const explanation =
      found.length === 0 ? 'No banned topic was found.' : `Speaks of ${found.join(', ')}.`;
    return { verdict, data: { verdict, not, explanation, topics: found, detected } };
  });
}
