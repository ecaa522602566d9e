import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import type { Distribution } from '../load-job.ts';
import type { Place } from '../place.ts';
import { targets } from '../targets.ts';
import { interleave, median, type Round, type Shape, type Workbench } from '../workbench.ts';

/** What a proxy adds to the latency of unary requests at 1,000 a second. */
export async function measureLatency(bench: Workbench): Promise<Figure[]> {
  const durationMsMax = bench.quick ? 3_000 : 15_000;
  const shape = {
    connections: 64,
    requestsPerSecond: 1_000,
    requestsMax: 1_000_000,
    durationMsMax,
  };
  return measureAdded(bench, bench.quick ? 2 : 3, shape, (round) => round.latencyMs, {
    figure: 'added latency at 1,000 RPS',
    p50: targets.addedLatencyP50Ms,
    p99: targets.addedLatencyP99Ms,
  });
}

/** What a proxy adds to the time to the first byte while 50 streams run. */
export async function measureFirstByte(bench: Workbench): Promise<Figure[]> {
  const shape = {
    connections: 50,
    requestsMax: 100_000,
    durationMsMax: bench.quick ? 5_000 : 20_000,
    eventEveryMs: 10,
  };
  return measureAdded(bench, bench.quick ? 2 : 3, shape, (round) => round.firstByteMs, {
    figure: 'added time to first byte, 50 streams',
    p50: targets.addedFirstByteP50Ms,
    p99: targets.addedFirstByteP99Ms,
  });
}

interface AddedOptions {
  /** Where requests go that are no chats; as the bench's subjects, in their order. */
  places?: { readonly upstream: Place; readonly subjects: readonly Place[] };
  figure: string;
  /** Targets, in ms. */
  p50: number;
  p99: number;
}

/**
 * Measures the upstream alone and each subject; `added` is the difference.
 * Control plane, data service and Postgres share a core with the load generator
 * here, so what they do shows as latency of the gateway: each percentile is
 * measured with them halted, which is the gateway's own, and with all running.
 */
export async function measureAdded(
  bench: Workbench,
  rounds: number,
  shape: Shape,
  pick: (round: Round) => Distribution,
  { figure, places: asked, ...wanted }: AddedOptions,
): Promise<Figure[]> {
  const upstream: Place = asked?.upstream ?? {
    name: 'upstream',
    url: bench.upstreamUrl,
    headers: {},
  };
  const places = [upstream, ...(asked?.subjects ?? bench.subjects)];
  const goOn = bench.subjects.map((subject) => subject.haltRest?.());
  const alone = await interleave(bench, places, rounds, shape).finally(() => {
    for (const release of goOn) release?.();
  });
  // What was held back meanwhile is caught up with before anything counts.
  await delay(3_000);
  const together = await interleave(bench, places, rounds, shape);
  return (['p50', 'p99'] as const).flatMap((percentile) => {
    const added = ([direct, ...results]: Round[][]) => {
      const value = (of: readonly Round[]): number =>
        median(of.map((round) => pick(round)[percentile]));
      const base = value(direct!);
      return { base, values: results.map((of) => value(of) - base), results };
    };
    const own = added(alone);
    const all = added(together);
    return bench.subjects.flatMap((subject, index): Figure[] => {
      const common: Figure = {
        subject: subject.name,
        figure: `${figure}, ${percentile}`,
        unit: 'ms',
        measured: own.values[index]!,
        rounds: own.results[index]!.map((round) => pick(round)[percentile]),
        note: `upstream alone ${own.base.toFixed(2)} ms`,
      };
      if (index === 0) return [common];
      const judged: Figure = {
        ...common,
        bare: own.values[0]!,
        judged: 'measured',
        target: wanted[percentile],
      };
      if (subject.haltRest === undefined) return [judged];
      return [
        judged,
        {
          ...common,
          figure: `${common.figure}, all processes running`,
          measured: all.values[index]!,
          bare: all.values[0]!,
          rounds: all.results[index]!.map((round) => pick(round)[percentile]),
          note: `upstream alone ${all.base.toFixed(2)} ms`,
        },
      ];
    });
  });
}
