import type { CheckSubject } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction, CheckOutcome } from '../check.ts';
import { lookInSlices } from '../reading/in-slices.ts';
import { requiredSubject } from '../text-check.ts';
import type { TermFinder } from './find-terms.ts';

/** A check that judges by how often lists of words are met. */
export function countInTurns(
  finder: TermFinder,
  subjects: readonly CheckSubject[],
  judge: (counts: Readonly<Record<string, number>>) => CheckOutcome,
): CheckFunction {
  return (context) => {
    const text = requiredSubject(textsOf(context, subjects).joined);
    return lookInSlices(
      [{ text }],
      (slice) => finder.count(slice),
      (all) => judge(summed(all)),
    );
  };
}

function summed(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
