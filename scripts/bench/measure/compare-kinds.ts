import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { firstAnswer, type Subject } from '../subject.ts';
import { interleave, median, runRound, type Workbench } from '../workbench.ts';

/** The same request, told by its headers to stand in another workspace. */
export interface Kind {
  readonly figure: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the ratio to the first kind may be. */
  readonly target?: number;
}

/**
 * CPU of a unary request of each kind, in turn; the ratio is to the first.
 * @param note what the first kind is
 */
export async function compareKinds(
  bench: Workbench,
  subject: Subject,
  kinds: readonly Kind[],
  note: string,
): Promise<Figure[]> {
  const asked = kinds.map(
    ({ figure, headers }): Place => ({
      name: figure,
      url: subject.url,
      pid: () => subject.pid(),
      headers,
    }),
  );
  const shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  for (const place of asked) {
    await firstAnswer(place.url, place.headers, AbortSignal.timeout(60_000));
    await runRound(bench, place, { ...shape, requestsMax: 3_000 });
  }
  const results = await interleave(bench, asked, bench.quick ? 4 : 10, shape);
  const cpu = results.map((rounds) => rounds.map((round) => round.cpuUsPerRequest));
  const free = cpu[0] ?? [];
  return kinds.map(({ figure, target }, index) => {
    const rounds = cpu[index] ?? [];
    const common: Figure = {
      subject: subject.name,
      figure,
      unit: 'µs',
      measured: median(rounds),
      rounds,
    };
    if (index === 0) return common;
    const compared: Figure = {
      ...common,
      pairedRatio: median(rounds.map((value, round) => value / (free[round] ?? Number.NaN))),
      note,
    };
    return target === undefined ? compared : { ...compared, judged: 'ratio', target };
  });
}
