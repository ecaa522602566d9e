import type { Figure } from '../figure.ts';
import { usageOf } from '../process-usage.ts';
import { targets } from '../targets.ts';
import { runRound, type Workbench } from '../workbench.ts';

/** Memory of processes that have answered one request. Call it before anything else has run. */
export function measureIdleMemory(bench: Workbench): Figure[] {
  return compare(bench, 'RSS idle', targets.rssIdleMb);
}

/** Memory right after many requests, without a pause in which it could shrink. */
export async function measureLoadedMemory(bench: Workbench): Promise<Figure[]> {
  const requestsMax = bench.quick ? 20_000 : 100_000;
  for (const subject of bench.subjects)
    await runRound(bench, subject, { connections: 32, requestsMax, durationMsMax: 300_000 });
  return compare(
    bench,
    `RSS after ${requestsMax.toLocaleString('en')} requests`,
    targets.rssLoadedMb,
  );
}

function compare(bench: Workbench, figure: string, target: number): Figure[] {
  const values = bench.subjects.map((subject) => usageOf(subject.pid()).rssMb);
  return bench.subjects.map((subject, index) => {
    const common: Figure = { subject: subject.name, figure, unit: 'MB', measured: values[index]! };
    return index === 0 ? common : { ...common, bare: values[0]!, judged: 'measured', target };
  });
}
