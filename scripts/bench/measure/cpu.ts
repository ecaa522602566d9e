import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { firstAnswer } from '../subject.ts';
import { targets } from '../targets.ts';
import {
  interleave,
  median,
  type Round,
  runRound,
  type Shape,
  type Workbench,
} from '../workbench.ts';

const unaryShape = ({ quick }: Workbench): Shape => ({
  connections: 32,
  requestsMax: quick ? 10_000 : 20_000,
  durationMsMax: 30_000,
});
const streamShape = ({ quick }: Workbench, eventEveryMs = 2): Shape => ({
  connections: 50,
  requestsMax: quick ? 500 : 1_500,
  durationMsMax: 30_000,
  eventEveryMs,
});

/** CPU time of one unary chat request. */
export function measureUnaryCpu(bench: Workbench): Promise<Figure[]> {
  return measureCpu(bench, bench.subjects, 'CPU per unary request', {
    target: targets.unaryCpuRatio,
    rounds: bench.quick ? 4 : 10,
    shape: unaryShape(bench),
  });
}

/** CPU time of one streamed chat request of 100 events: all at once, and one after another. */
export async function measureStreamCpu(bench: Workbench): Promise<Figure[]> {
  const rounds = bench.quick ? 4 : 8;
  const target = targets.streamCpuRatio;
  return [
    ...(await measureCpu(bench, bench.subjects, 'CPU per stream of 100 events in a burst', {
      target,
      rounds,
      shape: { ...streamShape(bench, 0), requestsMax: bench.quick ? 2_000 : 6_000 },
    })),
    ...(await measureCpu(bench, bench.subjects, 'CPU per stream of 100 paced events', {
      target,
      rounds,
      shape: streamShape(bench),
    })),
  ];
}

/** Both again, with an upstream that speaks another format. The bare proxy passes the same bytes on as they are. */
export async function measureTranslatedCpu(bench: Workbench): Promise<Figure[]> {
  const places = bench.subjects.flatMap(({ name, pid, translated }): Place[] =>
    translated === undefined ? [] : [{ name, pid, ...translated }],
  );
  const [unary, stream] = [unaryShape(bench), streamShape(bench)];
  for (const place of places) {
    await firstAnswer(place.url, place.headers, AbortSignal.timeout(60_000));
    await runRound(bench, place, unary);
    await runRound(bench, place, stream);
  }
  return [
    ...(await measureCpu(bench, places, 'CPU per translated unary request', {
      target: targets.translatedUnaryCpuRatio,
      rounds: bench.quick ? 4 : 10,
      shape: unary,
    })),
    ...(await measureCpu(bench, places, 'CPU per translated stream of 100 events', {
      target: targets.translatedStreamCpuRatio,
      rounds: bench.quick ? 4 : 8,
      shape: stream,
    })),
  ];
}

export async function measureCpu(
  bench: Workbench,
  places: readonly Place[],
  figure: string,
  { target, rounds, shape }: { target: number; rounds: number; shape: Shape },
): Promise<Figure[]> {
  const results = await interleave(bench, places, rounds, shape);
  const cpu = (of: readonly Round[]): number[] => of.map((round) => round.cpuUsPerRequest);
  const bare = cpu(results[0]!);
  return places.map((place, index) => {
    const values = cpu(results[index]!);
    const share = median(results[index]!.map((round) => round.coreShare));
    const common: Figure = {
      subject: place.name,
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
