import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';
import { median, type Workbench } from '../workbench.ts';

/** From starting the process to its first chat reply with 200. */
export async function measureColdStart(bench: Workbench): Promise<Figure[]> {
  const starts = bench.quick ? 2 : 5;
  const results: number[][] = bench.subjects.map(() => []);
  for (let start = 0; start < starts; start += 1) {
    for (const [index, subject] of bench.subjects.entries())
      results[index]!.push((await subject.restart()) / 1000);
  }
  return bench.subjects.map((subject, index) => {
    const rounds = results[index]!;
    const common: Figure = {
      subject: subject.name,
      figure: 'cold start to first 200',
      unit: 's',
      measured: median(rounds),
      rounds,
    };
    return index === 0
      ? common
      : { ...common, bare: median(results[0]!), judged: 'measured', target: targets.coldStartS };
  });
}
