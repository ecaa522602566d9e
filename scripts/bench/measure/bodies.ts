import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { usageOf } from '../process-usage.ts';
import { firstAnswer, type Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import {
  interleave,
  median,
  type Round,
  runRound,
  type Shape,
  type Workbench,
} from '../workbench.ts';

/** What keeping bodies costs the thread that serves, and all threads with what writes them to a folder. */
export async function measureBodies(bench: Workbench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const subject of bench.subjects)
    if (subject.openKeepingWorkspaces !== undefined)
      figures.push(...(await measureSubject(bench, subject)));
  return figures;
}

async function measureSubject(bench: Workbench, subject: Subject): Promise<Figure[]> {
  const places = await subject.openKeepingWorkspaces!();
  const asked = [places.metrics, places.full].map(
    (headers): Place => ({
      name: subject.name,
      url: subject.url,
      pid: () => subject.pid(),
      headers,
    }),
  );
  for (const place of asked)
    await firstAnswer(place.url, place.headers, AbortSignal.timeout(60_000));
  const unary: Shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  const burst: Shape = {
    connections: 50,
    requestsMax: bench.quick ? 2_000 : 6_000,
    durationMsMax: 30_000,
    eventEveryMs: 0,
  };
  const paced: Shape = { ...burst, requestsMax: bench.quick ? 500 : 1_500, eventEveryMs: 2 };
  return [
    ...(await compare(bench, subject, asked, 'unary request', unary)),
    await memoryGained(bench, subject, asked[1]!),
    ...(await compare(bench, subject, asked, 'stream of 100 events in a burst', burst)),
    ...(await compare(bench, subject, asked, 'stream of 100 paced events', paced)),
  ];
}

/** What is resident more after many more requests whose bodies are kept: they are written, and leave nothing. */
async function memoryGained(bench: Workbench, subject: Subject, kept: Place): Promise<Figure> {
  const requestsMax = bench.quick ? 20_000 : 100_000;
  const shape: Shape = { connections: 32, requestsMax: 20_000, durationMsMax: 60_000 };
  await runRound(bench, kept, shape);
  const before = usageOf(subject.pid()).rssMb;
  await runRound(bench, kept, { ...shape, requestsMax });
  const after = usageOf(subject.pid()).rssMb;
  return {
    subject: subject.name,
    figure: `resident memory more after ${requestsMax.toLocaleString('en')} unary requests, bodies kept`,
    unit: 'MB',
    measured: after - before,
    note: `${Math.round(after)} MB then`,
  };
}

async function compare(
  bench: Workbench,
  subject: Subject,
  places: readonly Place[],
  what: string,
  shape: Shape,
): Promise<Figure[]> {
  for (const place of places) await runRound(bench, place, shape);
  const [without = [], kept = []] = await interleave(bench, places, bench.quick ? 4 : 8, shape);
  const figure = (name: string, of: (round: Round) => number): Figure => {
    const rounds = kept.map(of);
    const beside = without.map(of);
    return {
      subject: subject.name,
      figure: `${name} per ${what}, bodies kept`,
      unit: 'µs',
      measured: median(rounds),
      rounds,
      pairedRatio: median(rounds.map((value, at) => value / (beside[at] ?? Number.NaN))),
      note: 'beside a request whose bodies are not kept',
    };
  };
  return [
    {
      ...figure('CPU of the serving thread', (round) => round.loopUsPerRequest),
      judged: 'ratio',
      target: targets.keptCpuRatio,
    },
    figure('CPU of all threads', (round) => round.cpuUsPerRequest),
  ];
}
