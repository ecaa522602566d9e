import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { usageOf } from '../process-usage.ts';
import { firstAnswer, type Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { interleave, median, runRound, type Workbench } from '../workbench.ts';

/** What it costs to hold streams back and look for personal data in them, beside streams that nobody looks at. */
export async function measureHeldStreams(bench: Workbench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const subject of bench.subjects) {
    if (subject.openGuardedWorkspaces === undefined) continue;
    const { without, held } = await subject.openGuardedWorkspaces();
    const places = [without, held].map(
      (headers, at): Place => ({
        name: at === 0 ? 'free' : 'held',
        url: subject.url,
        pid: () => subject.pid(),
        headers,
      }),
    );
    figures.push(...(await measureCpu(bench, subject, places)));
    figures.push(...(await measureMemory(bench, subject, places)));
  }
  return figures;
}

async function measureCpu(
  bench: Workbench,
  { name }: Subject,
  places: readonly Place[],
): Promise<Figure[]> {
  const shape = {
    connections: 50,
    requestsMax: bench.quick ? 1_500 : 6_000,
    durationMsMax: 30_000,
    eventEveryMs: 2,
  };
  for (const place of places) {
    await firstAnswer(place.url, place.headers, AbortSignal.timeout(60_000));
    await runRound(bench, place, { ...shape, requestsMax: 500 });
  }
  const results = await interleave(bench, places, bench.quick ? 4 : 8, shape);
  const [free = [], held = []] = results.map((rounds) =>
    rounds.map((round) => round.cpuUsPerRequest),
  );
  return [
    {
      subject: name,
      figure: 'CPU per stream of 100 paced events, nothing held',
      unit: 'µs',
      measured: median(free),
      rounds: free,
    },
    {
      subject: name,
      figure: 'CPU per stream of 100 paced events, held for personal data',
      unit: 'µs',
      measured: median(held),
      rounds: held,
      pairedRatio: median(held.map((value, round) => value / (free[round] ?? Number.NaN))),
      judged: 'ratio',
      target: targets.heldStreamCpuRatio,
      note: 'beside one that is not held',
    },
  ];
}

/** A thousand streams at once, in the middle of which as much is held as may be. */
async function measureMemory(
  bench: Workbench,
  subject: Subject,
  places: readonly Place[],
): Promise<Figure[]> {
  const streams = 1_000;
  const cutAfterMs = 20_000;
  const kb: number[] = [];
  for (const place of places) {
    // In a process that has no room left over from another load.
    await subject.restart();
    await runRound(bench, place, { connections: 32, requestsMax: 4_000, durationMsMax: 20_000 });
    const before = usageOf(subject.pid()).rssMb;
    const load = runRound(bench, place, {
      connections: streams,
      requestsMax: streams,
      durationMsMax: cutAfterMs,
      eventEveryMs: 400,
      cutAfterMs,
    });
    await delay(cutAfterMs - 500);
    const during = usageOf(subject.pid()).rssMb;
    const { cut } = await load;
    kb.push(((during - before) * 1024) / cut);
    await delay(2_000);
  }
  const [free = 0, held = 0] = kb;
  const figure = 'memory of an open stream, 1,000 at once';
  return [
    { subject: subject.name, figure: `${figure}, nothing held`, unit: 'kB', measured: free },
    {
      subject: subject.name,
      figure: `${figure}, held for personal data`,
      unit: 'kB',
      measured: held,
      pairedRatio: held / free,
      judged: 'ratio',
      target: targets.heldStreamMemoryRatio,
      note: 'beside one that is not held',
    },
  ];
}
