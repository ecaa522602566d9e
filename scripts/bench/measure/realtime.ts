import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Figure } from '../figure.ts';
import { usageOf } from '../process-usage.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { median, type Workbench } from '../workbench.ts';

/** As much sound as a vendor sends at a time: 40 ms at 24 kHz, in base64. */
const frame = JSON.stringify({
  type: 'response.output_audio.delta',
  event_id: 'event_bench',
  delta: 'A'.repeat(2560),
});

/** Frames of a session beside a relay of `ws` alone, in the same run: CPU, memory, what is added to the way. */
export async function measureRealtime(bench: Workbench): Promise<Figure[]> {
  return [
    ...(await measureMemory(bench)),
    ...(await measureFrames(bench)),
    ...(await measureWay(bench)),
  ];
}

/** Both ways of 50 sessions, each of which has four frames on their way. */
async function measureFrames(bench: Workbench): Promise<Figure[]> {
  const rounds = bench.quick ? 5 : 9;
  const frames = bench.quick ? 40_000 : 100_000;
  const us: number[][] = bench.subjects.map(() => []);
  const open = await Promise.all(bench.subjects.map((subject) => openSessions(subject, 50)));
  for (let round = -1; round < rounds; round++) {
    const order = [...bench.subjects.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) {
      const subject = bench.subjects[index]!;
      const before = usageOf(subject.pid()).cpuMs;
      await exchange(open[index]!, frames / 2);
      const cpuMs = usageOf(subject.pid()).cpuMs - before;
      // The first lets compilers settle.
      if (round >= 0) us[index]!.push((cpuMs * 1000) / frames);
    }
  }
  for (const socket of open.flat()) socket.terminate();
  return bench.subjects.map(({ name }, index) => {
    const common: Figure = {
      subject: name,
      figure: 'CPU per frame of a session, 2.6 kB',
      unit: 'µs',
      measured: median(us[index]!),
      rounds: us[index]!,
    };
    if (index === 0) return common;
    const pairedRatio = median(us[index]!.map((each, round) => each / us[0]![round]!));
    return {
      ...common,
      bare: median(us[0]!),
      pairedRatio,
      judged: 'ratio',
      target: targets.sessionFrameCpuRatio,
    };
  });
}

async function exchange(sockets: readonly WebSocket[], frames: number): Promise<void> {
  const each = Math.ceil(frames / sockets.length);
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          let sent = 0;
          let heard = 0;
          const say = () => {
            if (sent++ < each) socket.send(frame);
          };
          const onMessage = () => {
            if (++heard === each) {
              socket.off('message', onMessage);
              resolve();
            } else say();
          };
          socket.on('message', onMessage);
          for (let at = 0; at < 4; at++) say();
        }),
    ),
  );
}

async function measureMemory(bench: Workbench): Promise<Figure[]> {
  const sessions = 2_000;
  const kb: number[] = [];
  for (const subject of bench.subjects) {
    await subject.restart();
    const warm = await openSessions(subject, 100);
    await exchange(warm, 2_000);
    for (const socket of warm) socket.terminate();
    await delay(1_000);
    const before = usageOf(subject.pid()).rssMb;
    const open = await openSessions(subject, sessions);
    await exchange(open, sessions);
    await delay(1_000);
    kb.push(((usageOf(subject.pid()).rssMb - before) * 1024) / sessions);
    for (const socket of open) socket.terminate();
    await delay(1_000);
  }
  return bench.subjects.map(({ name }, index) => ({
    subject: name,
    figure: 'memory of a session, 2,000 open',
    unit: 'kB',
    measured: kb[index]!,
    ...(index === 0 ? {} : { bare: kb[0]!, judged: 'ratio', target: targets.sessionMemoryRatio }),
  }));
}

/** What a relay adds to the way there and back of each of 50 frames a second. */
async function measureWay(bench: Workbench): Promise<Figure[]> {
  const sessions = bench.quick ? 100 : 200;
  const durationMs = bench.quick ? 4_000 : 15_000;
  const ms: number[][] = [];
  for (const subject of bench.subjects) {
    const open = await openSessions(subject, sessions);
    ms.push(await waysOf(open, durationMs));
    for (const socket of open) socket.terminate();
  }
  const at = (index: number, part: number) => {
    const sorted = ms[index]!.toSorted((one, other) => one - other);
    return sorted[Math.floor(sorted.length * part)] ?? 0;
  };
  const parts = [
    ['p50', 0.5, targets.addedFrameP50Ms],
    ['p99', 0.99, targets.addedFrameP99Ms],
  ] as const;
  return parts.flatMap(([name, part, target]) =>
    bench.subjects.slice(1).map(
      (subject, index): Figure => ({
        subject: subject.name,
        figure: `added to a frame there and back, ${sessions} sessions × 50 a second, ${name}`,
        unit: 'ms',
        measured: at(index + 1, part) - at(0, part),
        note: `beyond the bare relay's ${at(0, part).toFixed(2)} ms`,
        judged: 'measured',
        target,
      }),
    ),
  );
}

async function waysOf(sockets: readonly WebSocket[], durationMs: number): Promise<number[]> {
  const ways: number[] = [];
  const timers = sockets.map((socket, index) => {
    const sentAt: number[] = [];
    socket.on('message', () => {
      const at = sentAt.shift();
      if (at !== undefined) ways.push(performance.now() - at);
    });
    const say = () => {
      sentAt.push(performance.now());
      socket.send(frame);
    };
    return setTimeout(() => timers.push(setInterval(say, 20)), index % 20);
  });
  await delay(durationMs);
  for (const timer of timers) clearInterval(timer);
  await delay(300);
  // Compilers settle in the first fifth.
  return ways.slice(ways.length / 5);
}

async function openSessions(subject: Subject, count: number): Promise<WebSocket[]> {
  const url = subject.url
    .replace('http', 'ws')
    .replace('/chat/completions', '/realtime?model=gpt-realtime');
  const open: WebSocket[] = [];
  while (open.length < count)
    open.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - open.length) }, () => openOne(url, subject)),
      )),
    );
  return open;
}

function openOne(url: string, { headers }: Subject): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      headers: { ...headers },
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    socket.once('open', () => resolve(socket));
    socket.on('error', reject);
  });
}
