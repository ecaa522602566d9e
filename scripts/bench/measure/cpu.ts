import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';
import { interleave, median, type Round, type Shape, type Workbench } from '../workbench.ts';

/** CPU time of one unary chat request. */
export function measureUnaryCpu(bench: Workbench): Promise<Figure[]> {
  const shape: Shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  return measureCpu(
    bench,
    'CPU per unary request',
    targets.unaryCpuRatio,
    bench.quick ? 4 : 10,
    shape,
  );
}

/** CPU time of one streamed chat request of 100 events. */
export function measureStreamCpu(bench: Workbench): Promise<Figure[]> {
  const shape: Shape = {
    connections: 50,
    requestsMax: bench.quick ? 500 : 1_500,
    durationMsMax: 30_000,
    eventEveryMs: 2,
  };
  return measureCpu(
    bench,
    'CPU per stream of 100 events',
    targets.streamCpuRatio,
    bench.quick ? 4 : 8,
    shape,
  );
}

async function measureCpu(
  bench: Workbench,
  figure: string,
  target: number,
  rounds: number,
  shape: Shape,
): Promise<Figure[]> {
  const results = await interleave(bench, bench.subjects, rounds, shape);
  const cpu = (of: readonly Round[]): number[] => of.map((round) => round.cpuUsPerRequest);
  const bare = cpu(results[0]!);
  return bench.subjects.map((subject, index) => {
    const values = cpu(results[index]!);
    const share = median(results[index]!.map((round) => round.coreShare));
    const common: Figure = {
      subject: subject.name,
      figure,
      unit: 'µs',
      measured: median(values),
      rounds: values,
      note: `core ${Math.round(share * 100)} % busy`,
    };
    if (index === 0) return common;
    const pairedRatio = median(values.map((value, round) => value / bare[round]!));
    return { ...common, bare: median(bare), pairedRatio, judged: 'ratio', target };
  });
}
