import { piiKinds } from '@sluice/contracts/checks';
import { PiiFinder } from '../pii/find-pii.ts';
import { piiLines } from './pii-lines.ts';
import { readLine } from './read-line.ts';

/** How well a kind of thing is found on the labelled lines. */
export interface Quality {
  readonly kind: string;
  readonly marked: number;
  readonly found: number;
  /** Found where nothing of its kind is. */
  readonly wrong: number;
  /** Shares, 0 to 1. */
  readonly precision: number;
  readonly recall: number;
}

export interface PiiMeasure {
  readonly qualities: readonly Quality[];
  /** Every line that is judged wrongly, and what of it. */
  readonly faults: readonly string[];
}

/** Precision and recall of each kind, all kinds sought at once: what counts is the exact place. */
export function measurePii(): PiiMeasure {
  const finder = new PiiFinder({
    categories: piiKinds,
    regions: ['US'],
    own: [],
    allowed: new Set(),
  });
  const counts = new Map(piiKinds.map((kind) => [kind as string, { marked: 0, hit: 0, wrong: 0 }]));
  const faults: string[] = [];
  for (const line of piiLines) {
    const { text, marks } = readLine(line);
    const found = finder.find(text);
    const isSame = (a: { type: string; start: number; end: number }) => (b: typeof a) =>
      a.type === b.type && a.start === b.start && a.end === b.end;
    for (const mark of marks) {
      const count = counts.get(mark.type);
      if (count === undefined) throw new Error(`no kind ${mark.type}`);
      count.marked++;
      if (found.some(isSame(mark))) count.hit++;
      else faults.push(`missed ${mark.type}: ${line}`);
    }
    for (const finding of found) {
      if (marks.some(isSame(finding))) continue;
      const count = counts.get(finding.type);
      if (count !== undefined) count.wrong++;
      faults.push(`wrong ${finding.type} "${text.slice(finding.start, finding.end)}": ${line}`);
    }
  }
  const qualities = [...counts].map(([kind, { marked, hit, wrong }]) => ({
    kind,
    marked,
    found: hit,
    wrong,
    precision: hit + wrong === 0 ? 1 : hit / (hit + wrong),
    recall: marked === 0 ? 1 : hit / marked,
  }));
  return { qualities, faults };
}
