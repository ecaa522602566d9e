import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import { usageOf } from '../process-usage.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { median, runRound, type Workbench } from '../workbench.ts';

interface Burst {
  open: number;
  p50: number;
  p99: number;
  last: number;
  kb: number;
  cpuUs: number;
}

/**
 * Thousands of streams that are all begun at once, through one gateway to one
 * origin: how long until half, nearly all and the last of them have their first
 * byte, and what each costs in memory while it is open and says little.
 */
export async function measureStreams(bench: Workbench): Promise<Figure[]> {
  const count = bench.openStreams ?? (bench.quick ? 1_000 : 5_000);
  const rounds = bench.quick ? 1 : 3;
  const bursts: Burst[][] = bench.subjects.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...bench.subjects.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order)
      bursts[index]?.push(await burst(bench, bench.subjects[index] as Subject, count));
  }
  return bench.subjects.flatMap(({ name }, index) => {
    const one = (
      figure: string,
      unit: Figure['unit'],
      read: (of: Burst) => number,
      target?: number,
    ): Figure => {
      const values = bursts[index]?.map(read) ?? [];
      const bare = bursts[0]?.map(read) ?? [];
      const common: Figure = {
        subject: name,
        figure,
        unit,
        measured: median(values),
        rounds: values,
        note: `${median(bursts[index]?.map(({ open }) => open) ?? []).toLocaleString('en')} open at once`,
      };
      if (index === 0) return common;
      const pairedRatio = median(values.map((value, at) => value / (bare[at] ?? Number.NaN)));
      return {
        ...common,
        bare: median(bare),
        pairedRatio,
        ...(target === undefined ? {} : { judged: 'ratio' as const, target }),
      };
    };
    const streams = `${count.toLocaleString('en')} streams begun at once`;
    return [
      one(`first byte of half of ${streams}`, 'ms', ({ p50 }) => p50),
      one(`first byte of 99 % of ${streams}`, 'ms', ({ p99 }) => p99),
      one(`first byte of all of ${streams}`, 'ms', ({ last }) => last, targets.burstOpenedRatio),
      one(`CPU of each of ${streams}`, 'µs', ({ cpuUs }) => cpuUs),
      one(`memory of each of ${streams}`, 'kB', ({ kb }) => kb, targets.burstStreamKbRatio),
    ];
  });
}

/** @throws Error when a stream was not open at the end: the times of the others would say nothing */
async function burst(bench: Workbench, subject: Subject, count: number): Promise<Burst> {
  const cutAfterMs = Math.max(8_000, count * 8);
  // In a process that has no room left over from another load.
  await subject.restart();
  await runRound(bench, subject, { connections: 32, requestsMax: 4_000, durationMsMax: 20_000 });
  const before = usageOf(subject.pid());
  const load = runRound(bench, subject, {
    connections: count,
    requestsMax: count,
    durationMsMax: cutAfterMs,
    eventEveryMs: 5_000,
    cutAfterMs,
    rampMs: 0,
  });
  await delay(cutAfterMs - 500);
  const during = usageOf(subject.pid());
  const { cut, openedMs } = await load;
  if (cut < count * 0.99)
    throw new Error(`${subject.name}: only ${cut} of ${count} streams were open`);
  await delay(2_000);
  const { p50, p99, max: last } = openedMs;
  return {
    open: cut,
    p50,
    p99,
    last,
    kb: ((during.rssMb - before.rssMb) * 1024) / cut,
    cpuUs: ((during.cpuMs - before.cpuMs) * 1000) / cut,
  };
}
