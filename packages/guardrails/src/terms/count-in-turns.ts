import type { CheckSubject } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction, CheckOutcome } from '../check.ts';
import { furtherReadings } from '../reading/further-readings.ts';
import { lookInSlices } from '../reading/in-slices.ts';
import { checkedSubject, requiredSubject } from '../text-check.ts';
import type { TermFinder } from './find-terms.ts';

/** A check that judges by how often lists of words are met. */
export function countInTurns(
  finder: TermFinder,
  subjects: readonly CheckSubject[],
  judge: (counts: Readonly<Record<string, number>>) => CheckOutcome,
): CheckFunction {
  return (context) => {
    const texts = textsOf(context, subjects);
    const readings = [requiredSubject(texts.joined), ...furtherReadings(texts)];
    return lookInSlices(
      readings.map((text, reading) => ({ text: checkedSubject(text), reading })),
      (slice, { reading }) => ({ reading, counts: finder.count(slice) }),
      (all) => judge(mostOf(readings.map((_, at) => summed(ofReading(all, at))))),
    );
  };
}

interface Counted {
  readonly reading: number;
  readonly counts: Readonly<Record<string, number>>;
}

function ofReading(all: readonly Counted[], at: number) {
  return all.filter(({ reading }) => reading === at).map(({ counts }) => counts);
}

/** The same words are in several readings: of each list the most that one has. */
function mostOf([first = {}, ...others]: readonly Record<string, number>[]) {
  for (const counts of others)
    for (const [name, count] of Object.entries(counts))
      first[name] = Math.max(first[name] ?? 0, count);
  return first;
}

function summed(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
