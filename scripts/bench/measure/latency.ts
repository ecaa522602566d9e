import type { Figure } from '../figure.ts';
import type { Distribution } from '../load-job.ts';
import { targets } from '../targets.ts';
import {
  interleave,
  median,
  type Place,
  type Round,
  type Shape,
  type Workbench,
} from '../workbench.ts';

/** What a proxy adds to the latency of unary requests at 1,000 a second. */
export async function measureLatency(bench: Workbench): Promise<Figure[]> {
  const durationMsMax = bench.quick ? 3_000 : 15_000;
  const shape = {
    connections: 64,
    requestsPerSecond: 1_000,
    requestsMax: 1_000_000,
    durationMsMax,
  };
  const added = await measureAdded(bench, bench.quick ? 1 : 3, shape, (round) => round.latencyMs);
  return [
    ...added('added latency at 1,000 RPS, p50', 'p50', targets.addedLatencyP50Ms),
    ...added('added latency at 1,000 RPS, p99', 'p99', targets.addedLatencyP99Ms),
  ];
}

/** What a proxy adds to the time to the first byte while 50 streams run. */
export async function measureFirstByte(bench: Workbench): Promise<Figure[]> {
  const shape = {
    connections: 50,
    requestsMax: 100_000,
    durationMsMax: bench.quick ? 5_000 : 20_000,
    eventEveryMs: 10,
  };
  const added = await measureAdded(bench, bench.quick ? 1 : 3, shape, (round) => round.firstByteMs);
  return added('added time to first byte, 50 streams, p50', 'p50', targets.addedFirstByteP50Ms);
}

/** Measures the upstream alone and each subject; `added` is the difference. */
async function measureAdded(
  bench: Workbench,
  rounds: number,
  shape: Shape,
  pick: (round: Round) => Distribution,
) {
  const upstream: Place = { name: 'upstream', url: bench.upstreamUrl, headers: {} };
  const goOn = bench.subjects.map((subject) => subject.haltRest?.());
  const [direct, ...results] = await interleave(
    bench,
    [upstream, ...bench.subjects],
    rounds,
    shape,
  ).finally(() => {
    for (const release of goOn) release?.();
  });
  return (figure: string, percentile: keyof Distribution, target: number): Figure[] => {
    const value = (of: readonly Round[]): number =>
      median(of.map((round) => pick(round)[percentile]));
    const base = value(direct!);
    const bare = value(results[0]!) - base;
    return bench.subjects.map((subject, index) => {
      const rounded = results[index]!.map((round) => pick(round)[percentile]);
      const common: Figure = {
        subject: subject.name,
        figure,
        unit: 'ms',
        measured: value(results[index]!) - base,
        rounds: rounded,
        note: `upstream alone ${base.toFixed(2)} ms`,
      };
      return index === 0 ? common : { ...common, bare, judged: 'measured', target };
    });
  };
}
