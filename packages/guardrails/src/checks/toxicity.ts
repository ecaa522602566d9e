import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { countInTurns } from '../terms/count-in-turns.ts';
import { TermFinder } from '../terms/find-terms.ts';

/** Insults, threats and swearing by lists of words, and by those of one’s own. */
export function toxicity({
  categories,
  words,
  allow,
  not,
  subjects,
}: ParametersOf<'default.toxicity'>): CheckFunction {
  const finder = new TermFinder([{ name: 'words', terms: words }], categories, allow);
  return countInTurns(finder, subjects, (detected) => {
    const names = Object.keys(detected);
    const verdict = (names.length === 0) !== not;
    const explanation =
      names.length === 0 ? 'Nothing of the lists was found.' : `Found ${names.join(', ')}.`;
    // What was found is told by its list alone: results go into replies, records and logs.
    return { verdict, data: { verdict, not, explanation, detected } };
  });
}
