import type { Sample } from './soak.ts';

/** So much may lie between the least and the most resident memory, once the gateway has settled. */
const rssRangeMb = 10;
/** Connections and timers come and go by the second; what grows does so in every third of the run. */
const countRange = 20;

/** What grew after the first `settleS` seconds. */
export function verdictOf(
  samples: readonly Sample[],
  settleS: number,
): { faults: string[]; sentence: string } {
  const settled = samples.filter(({ atS }) => atS > settleS);
  const rss = settled.map(({ rssMb }) => rssMb);
  const range = Math.max(...rss) - Math.min(...rss);
  const faults: string[] = [];
  if (settled.length < 2) return { faults: ['too short to tell'], sentence: '' };
  if (range > rssRangeMb)
    faults.push(`RSS, from ${Math.min(...rss).toFixed(0)} to ${Math.max(...rss).toFixed(0)} MB`);
  const third = Math.max(1, Math.floor(settled.length / 3));
  const kinds = new Set(settled.flatMap(({ resources }) => Object.keys(resources)));
  const counts: [string, (sample: Sample) => number][] = [
    ['handles', ({ handles }) => handles],
    ['warnings of listeners', ({ warnings }) => warnings],
    ...[...kinds].map((kind): [string, (sample: Sample) => number] => [
      kind,
      ({ resources }) => resources[kind] ?? 0,
    ]),
  ];
  for (const [what, of] of counts) {
    const first = Math.max(...settled.slice(0, third).map(of));
    const last = Math.min(...settled.slice(-third).map(of));
    const room = what.startsWith('warnings') ? 0 : countRange;
    if (last > first + room) faults.push(`${what}, from ${first} to ${last}`);
  }
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0);
  return {
    faults,
    sentence: `${requests.toLocaleString('en')} requests; after ${(settleS / 60).toFixed(0)} minutes RSS stayed within ${range.toFixed(1)} MB (at most ${Math.max(...rss).toFixed(0)} MB)`,
  };
}
