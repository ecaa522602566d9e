import { keyCount } from '../crowded-workspace.ts';
import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';
import { median, type Workbench } from '../workbench.ts';

/** What a page of a long list costs its caller, wherever in the list it is. */
export async function measureAdminLists(bench: Workbench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const subject of bench.subjects) {
    if (subject.openCrowdedWorkspace === undefined) continue;
    const workspace = await subject.openCrowdedWorkspace();
    for (const size of [100, 1000])
      for (const [place, page] of [
        ['first', 0],
        ['middle', keyCount / size / 2],
        ['last', keyCount / size - 1],
      ] as const) {
        const timesMs = await timePages(bench, () => workspace.readPage(page, size));
        figures.push({
          subject: subject.name,
          figure: `${place} page of ${size.toLocaleString('en')} of ${keyCount.toLocaleString('en')} keys, longest`,
          unit: 'ms',
          measured: Math.max(...timesMs),
          judged: 'measured',
          target: targets.adminPageMs,
          rounds: timesMs,
          note: `p50 ${median(timesMs).toFixed(1)} ms`,
        });
      }
  }
  return figures;
}

async function timePages(bench: Workbench, read: () => Promise<void>): Promise<number[]> {
  for (let warm = 0; warm < 3; warm += 1) await read();
  const timesMs: number[] = [];
  for (let round = 0; round < (bench.quick ? 20 : 100); round += 1) {
    const startedAt = performance.now();
    await read();
    timesMs.push(performance.now() - startedAt);
  }
  return timesMs;
}
