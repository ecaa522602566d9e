import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import { usageOf } from '../process-usage.ts';
import { targets } from '../targets.ts';
import { runRound, type Workbench } from '../workbench.ts';

/** What a stream costs in memory while it is open and says little: an event a second. */
export async function measureOpenStreams(bench: Workbench): Promise<Figure[]> {
  const streams = bench.quick ? 1_000 : 5_000;
  const cutAfterMs = bench.quick ? 8_000 : 20_000;
  const opened: number[] = [];
  const kb: number[] = [];
  for (const subject of bench.subjects) {
    // In a process that has no room left over from another load.
    await subject.restart();
    await runRound(bench, subject, { connections: 32, requestsMax: 4_000, durationMsMax: 20_000 });
    const before = usageOf(subject.pid()).rssMb;
    const load = runRound(bench, subject, {
      connections: streams,
      requestsMax: streams,
      durationMsMax: cutAfterMs,
      eventEveryMs: 1_000,
      cutAfterMs,
    });
    await delay(cutAfterMs - 500);
    const during = usageOf(subject.pid()).rssMb;
    opened.push((await load).cut);
    kb.push(((during - before) * 1024) / opened.at(-1)!);
    await delay(2_000);
  }
  return bench.subjects.map((subject, index) => {
    const common: Figure = {
      subject: subject.name,
      figure: `memory of an open stream, ${streams.toLocaleString('en')} asked for`,
      unit: 'kB',
      measured: kb[index]!,
      note: `${opened[index]!.toLocaleString('en')} open at once`,
    };
    return index === 0
      ? common
      : { ...common, bare: kb[0]!, judged: 'measured', target: targets.openStreamKb };
  });
}
