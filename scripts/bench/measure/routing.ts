import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { configCount, type RoutingPlaces, wideTargets } from '../routing-workspace.ts';
import { firstAnswer, type Subject } from '../subject.ts';
import { interleave, median, runRound, type Workbench } from '../workbench.ts';
import { measurePlanning } from './planning.ts';

const many = configCount.toLocaleString('en');

/** What configs cost: planning by itself, and whole requests beside plain ones of the same key. */
export async function measureRouting(bench: Workbench): Promise<Figure[]> {
  const figures = measurePlanning(bench.quick);
  for (const subject of bench.subjects) {
    if (subject.openRoutingWorkspace === undefined) continue;
    const places = await subject.openRoutingWorkspace();
    await firstAnswer(subject.url, places.wide.headers, AbortSignal.timeout(60_000));
    figures.push(...(await measureRequests(bench, subject, places)));
    figures.push(await measureChange(bench, subject, places));
  }
  return figures;
}

async function measureRequests(
  bench: Workbench,
  subject: Subject,
  places: RoutingPlaces,
): Promise<Figure[]> {
  const kinds = [
    { figure: 'CPU per request, plain', place: places.plain },
    {
      figure: `CPU per request, ${wideTargets.toLocaleString('en')} targets in one config`,
      place: places.wide,
    },
    { figure: `CPU per request, ${many} saved configs`, place: places.saved },
    { figure: `CPU per request, ${many} inline configs`, place: places.inline },
  ];
  const asked = kinds.map(({ figure, place }) => placeOf(subject, figure, place));
  const shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  for (const place of asked) await runRound(bench, place, { ...shape, requestsMax: 3_000 });
  const results = await interleave(bench, asked, bench.quick ? 4 : 8, shape);
  const cpu = results.map((rounds) => rounds.map((round) => round.cpuUsPerRequest));
  const plain = cpu[0] ?? [];
  return kinds.map(({ figure }, index) => {
    const rounds = cpu[index] ?? [];
    const common: Figure = {
      subject: subject.name,
      figure,
      unit: 'µs',
      measured: median(rounds),
      rounds,
    };
    if (index === 0) return common;
    return {
      ...common,
      pairedRatio: median(rounds.map((value, round) => value / (plain[round] ?? Number.NaN))),
      note: 'beside a plain request',
    };
  });
}

/** The longest that any request waits while the gateway fetches the workspace again because one config has changed. */
async function measureChange(
  bench: Workbench,
  subject: Subject,
  places: RoutingPlaces,
): Promise<Figure> {
  const round = runRound(bench, placeOf(subject, 'during a change', places.plain), {
    connections: 16,
    requestsPerSecond: 200,
    requestsMax: 1_000_000,
    durationMsMax: bench.quick ? 10_000 : 20_000,
  });
  await places.changeOneConfig();
  const { latencyMs } = await round;
  return {
    subject: subject.name,
    figure: `longest answer, one of ${many} configs changes`,
    unit: 'ms',
    measured: latencyMs.max,
    note: `p99 ${latencyMs.p99.toFixed(1)} ms, at 200 RPS`,
  };
}

function placeOf(subject: Subject, name: string, place: RoutingPlaces['plain']): Place {
  return { name, url: subject.url, pid: () => subject.pid(), ...place };
}
