import type { Figure } from '../figure.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import {
  agentReply,
  agentRequest,
  agentStreamBytes,
  agentStreamRequest,
  toolCallRequest,
  toolListRequest,
  toolReplyBytes,
  toolStreamRequest,
} from '../tool-canned.ts';
import type { Called, ToolPlaces } from '../tool-places.ts';
import { type Place, runRound, type Workbench } from '../workbench.ts';
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
  ];
}

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

async function openAll({ subjects }: Workbench) {
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
