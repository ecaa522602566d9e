import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { usageOf } from '../process-usage.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import {
  agentReply,
  agentRequest,
  agentStreamBytes,
  agentStreamRequest,
  initializeRequest,
  toolCallRequest,
  toolListRequest,
  toolReplyBytes,
  toolSlowRequest,
  toolStreamRequest,
  toolTextRequest,
} from '../tool-canned.ts';
import type { Called, ToolPlaces } from '../tool-places.ts';
import { interleave, median, runRound, type Workbench } from '../workbench.ts';
import { measureCpu } from './cpu.ts';
import { measureAdded } from './latency.ts';

/** Calls of tools and lists of them, with everything on that is on by default, beside a proxy that parses both ways. */
export async function measureMcp(bench: Workbench): Promise<Figure[]> {
  const opened = await openAll(bench);
  const of = (body: string, bytesMin: number) =>
    opened.map(({ subject, places }) => placeOf(subject, places.mcp, body, bytesMin));
  const calls = of(toolCallRequest, toolReplyBytes.call / 2);
  const upstream = {
    ...calls[0]!,
    name: 'upstream',
    url: new URL('/mcp', bench.upstreamUrl).href,
  };
  return [
    ...(await cpuOf(bench, calls, 'CPU per tools/call', targets.toolCallCpuRatio, 10_000)),
    ...(await cpuOf(
      bench,
      of(toolStreamRequest, toolReplyBytes.stream / 2),
      'CPU per tools/call answered in 20 events',
      targets.toolStreamCpuRatio,
      3_000,
    )),
    ...(await cpuOf(
      bench,
      of(toolListRequest, toolReplyBytes.list / 2),
      'CPU per tools/list of 500 tools',
      targets.toolListCpuRatio,
      1_000,
    )),
    ...(await measureAdded(
      bench,
      bench.quick ? 2 : 3,
      {
        connections: 64,
        requestsPerSecond: 500,
        requestsMax: 1_000_000,
        durationMsMax: bench.quick ? 4_000 : 15_000,
      },
      (round) => round.latencyMs,
      {
        places: { upstream, subjects: calls },
        figure: 'added latency at 500 tool calls a second',
        p50: targets.addedToolP50Ms,
        p99: targets.addedToolP99Ms,
      },
    )),
    ...(await measurePatterns(bench, opened)),
    ...(await measureIdleSessions(bench, opened)),
    ...(await measureOpenCalls(bench, opened)),
  ];
}

/** What two patterns add to a whole call with 2 kB of text. */
async function measurePatterns(bench: Workbench, opened: readonly Opened[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { subject, places } of opened) {
    if (places.guardedMcp === undefined) continue;
    const bytesMin = toolReplyBytes.call / 2;
    const pair = [places.mcp, places.guardedMcp].map((called) =>
      placeOf(subject, called, toolTextRequest, bytesMin),
    );
    const shape = { connections: 32, requestsMax: 10_000, durationMsMax: 30_000 };
    for (const place of pair) await runRound(bench, place, shape);
    const results = await interleave(bench, pair, bench.quick ? 4 : 10, shape);
    const [free = [], looked = []] = results.map((rounds) =>
      rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest),
    );
    const added = looked.map((us, round) => us - (free[round] ?? Number.NaN));
    figures.push({
      subject: subject.name,
      figure: 'two patterns on 2 kB, added to a tools/call',
      unit: 'µs',
      measured: median(added),
      rounds: added,
      judged: 'measured',
      target: targets.toolPatternsUs,
      note: `CPU; ${Math.round(median(free))} µs without`,
    });
  }
  return figures;
}

const idleSessions = 10_000;

/** What sessions of the older era hold that were begun and are not used. */
async function measureIdleSessions(bench: Workbench, opened: readonly Opened[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { subject, places } of opened) {
    if (places.guardedMcp === undefined) continue;
    const { 'mcp-session-id': _, ...headers } = places.mcp.headers;
    const place = placeOf(
      subject,
      { url: places.mcp.url, headers },
      initializeRequest,
      toolReplyBytes.initialize / 2,
    );
    const shape = { connections: 32, requestsMax: idleSessions, durationMsMax: 60_000 };
    // The heap grows to the size that this load wants, whoever keeps anything.
    for (let round = 0; round < 3; round += 1) await runRound(bench, place, shape);
    await delay(settleMs);
    const before = usageOf(subject.pid()).rssMb;
    await runRound(bench, place, shape);
    await delay(settleMs);
    figures.push({
      subject: subject.name,
      figure: `memory of ${idleSessions.toLocaleString('en')} idle sessions`,
      unit: 'MB',
      measured: usageOf(subject.pid()).rssMb - before,
      judged: 'measured',
      target: targets.idleSessionsMb,
    });
  }
  return figures;
}

/** What calls hold that are answered by an event a second. */
async function measureOpenCalls(bench: Workbench, opened: readonly Opened[]): Promise<Figure[]> {
  const streams = 2_000;
  const cutAfterMs = bench.quick ? 10_000 : 16_000;
  const kb: number[] = [];
  const figures: Figure[] = [];
  for (const { subject, places } of opened) {
    const calls = placeOf(subject, places.mcp, toolStreamRequest, toolReplyBytes.stream / 2);
    const slow = placeOf(subject, places.mcp, toolSlowRequest, 0);
    // In a process that has no room left over from another load.
    await subject.restart();
    const shape = { connections: 32, requestsMax: 3_000, durationMsMax: 20_000 };
    await runRound(bench, calls, shape);
    await delay(settleMs);
    const before = usageOf(subject.pid()).rssMb;
    const load = runRound(bench, slow, {
      connections: streams,
      requestsMax: streams,
      durationMsMax: cutAfterMs,
      cutAfterMs,
    });
    await delay(cutAfterMs - 500);
    const during = usageOf(subject.pid()).rssMb;
    const { cut } = await load;
    kb.push(((during - before) * 1024) / cut);
    const measured = kb.at(-1) ?? Number.NaN;
    const isBare = kb.length === 1;
    const [bare = Number.NaN] = kb;
    figures.push({
      subject: subject.name,
      figure: `memory of an open call, ${streams.toLocaleString('en')} asked for`,
      unit: 'kB',
      measured,
      note: `${cut.toLocaleString('en')} open at once`,
      ...(!isBare && {
        bare,
        pairedRatio: measured / bare,
        judged: 'ratio' as const,
        target: targets.openToolStreamRatio,
      }),
    });
    await delay(settleMs);
  }
  return figures;
}

const settleMs = 2_000;

/** Messages to agents, answered whole and in 100 events. */
export async function measureAgents(bench: Workbench): Promise<Figure[]> {
  const opened = await openAll(bench);
  const of = (body: string, bytesMin: number) =>
    opened.map(({ subject, places }) => placeOf(subject, places.agent, body, bytesMin));
  return [
    ...(await cpuOf(
      bench,
      of(agentRequest, agentReply.length / 2),
      'CPU per message to an agent',
      targets.agentCpuRatio,
      10_000,
    )),
    ...(await cpuOf(
      bench,
      of(agentStreamRequest, agentStreamBytes / 2),
      'CPU per agent’s stream of 100 events',
      targets.agentStreamCpuRatio,
      2_000,
    )),
  ];
}

const openedTools = new WeakMap<Subject, Promise<ToolPlaces>>();

interface Opened {
  readonly subject: Subject;
  readonly places: ToolPlaces;
}

async function openAll({ subjects }: Workbench): Promise<Opened[]> {
  return Promise.all(
    subjects.flatMap((subject) => {
      if (subject.openTools === undefined) return [];
      const opening = openedTools.get(subject) ?? subject.openTools();
      openedTools.set(subject, opening);
      return [opening.then((places) => ({ subject, places }))];
    }),
  );
}

function placeOf(
  subject: Subject,
  { url, headers }: Called,
  body: string,
  bytesMin: number,
): Place {
  const expected = { bytesMin, endsWith: '}' };
  return {
    name: subject.name,
    url,
    headers,
    body,
    replies: { unary: expected, stream: expected },
    pid: () => subject.pid(),
  };
}

async function cpuOf(
  bench: Workbench,
  places: readonly Place[],
  figure: string,
  target: number,
  requestsMax: number,
): Promise<Figure[]> {
  const shape = { connections: 32, requestsMax, durationMsMax: 30_000 };
  // Compilers settle on each kind of request by itself.
  for (const place of places) await runRound(bench, place, shape);
  return measureCpu(bench, places, figure, { target, rounds: bench.quick ? 4 : 10, shape });
}
