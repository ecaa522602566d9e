import { setTimeout as delay } from 'node:timers/promises';
import { streamEvents, streamRequest, unaryReply, unaryRequest } from '../bench/canned.ts';
import type { LoadJob, LoadResult } from '../bench/load-job.ts';
import { type Part, startPart } from '../bench/parts.ts';
import { usageOf } from '../bench/process-usage.ts';
import type { Subject } from '../bench/subject.ts';
import {
  initializeRequest,
  toolCallRequest,
  toolListRequest,
  toolReplyBytes,
  toolSlowRequest,
  toolStreamRequest,
} from '../bench/tool-canned.ts';
import type { Called } from '../bench/tool-places.ts';

/** What the gateway held, a second after a slice of the load had ended. */
export interface Sample {
  atS: number;
  /**
   * The most of the slice: resident memory goes up and down with the collections of
   * the heap, and a single look would measure how long ago the last one was.
   */
  rssMb: number;
  /** Of V8, in use. */
  heapMb: number;
  handles: number;
  /** Active resources by kind: `Timeout`, `TCPSocketWrap`, … */
  resources: Record<string, number>;
  /** Answered since the last sample. */
  requests: number;
  p99Ms: number;
  /** Lines of Node in the log that warn of listeners that grow. */
  warnings: number;
}

export interface SoakOptions {
  gateway: Subject;
  minutes: number;
  requestsPerSecond: number;
  /** An MCP server, called in place of models. */
  tools?: Called | undefined;
  /** Of the load generators. */
  core: string | undefined;
  signal: AbortSignal;
  onSample: (sample: Sample) => void;
}

/** One request in twenty is a stream of 100 events, 20 ms apart: 50 are open at any time. */
const streamShare = 0.05;
const eventEveryMs = 20;
/** Between samples. */
const sliceMs = 60_000;
/** Between looks at resident memory. */
const lookMs = 1_000;

/**
 * Sends load by the clock, in slices, and looks at the gateway after each.
 * @throws Error when more than one request of a thousand fails
 */
export async function soak(options: SoakOptions): Promise<Sample[]> {
  const { gateway, core, signal } = options;
  const loads: Part[] = [];
  const jobs = options.tools === undefined ? modelJobs(options) : toolJobs(options, options.tools);
  for (const _ of jobs) loads.push(await startPart('load.ts', [], core));
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const totalMs = options.minutes * 60_000;
  try {
    while (performance.now() - startedAt < totalMs && !signal.aborted) {
      const leftMs = totalMs - (performance.now() - startedAt);
      const durationMsMax = Math.ceil(Math.min(sliceMs, leftMs));
      let rssMb = 0;
      const watch = setInterval(() => {
        rssMb = Math.max(rssMb, usageOf(gateway.pid()).rssMb);
      }, lookMs);
      const results = await Promise.all(
        jobs.map((job, index) => (loads[index] as Part).send(job(durationMsMax))),
      ).finally(() => clearInterval(watch));
      complain(results);
      await delay(1_000, undefined, { signal }).catch(() => {});
      const atS = (performance.now() - startedAt) / 1_000;
      const sample = { atS, rssMb, ...(await look(gateway, results)) };
      samples.push(sample);
      options.onSample(sample);
    }
  } finally {
    for (const load of loads) await load.stop();
  }
  return samples;
}

/** One slice of one load. */
type Job = (durationMsMax: number) => LoadJob;

const byTheClock = { rampMs: 0, requestsMax: Number.MAX_SAFE_INTEGER };

function modelJobs({ gateway, requestsPerSecond }: SoakOptions): Job[] {
  const common = { ...byTheClock, url: gateway.url, headers: gateway.headers };
  const streamsPerSecond = requestsPerSecond * streamShare;
  return [
    (durationMsMax) => ({
      ...common,
      durationMsMax,
      body: unaryRequest,
      connections: 64,
      requestsPerSecond: requestsPerSecond - streamsPerSecond,
      replyBytesMin: unaryReply.length / 2,
      replyEndsWith: '}',
    }),
    (durationMsMax) => ({
      ...common,
      durationMsMax,
      body: streamRequest(eventEveryMs),
      connections: 200,
      requestsPerSecond: streamsPerSecond,
      replyBytesMin: streamEvents.length,
      replyEndsWith: '[DONE]',
    }),
  ];
}

/** Of all requests; the rest are calls. */
const toolShares = { begun: 0.1, streamed: 0.1, listed: 0.02 };
/** Calls that are answered by an event a second, and left before their end. */
const leftCalls = 100;

function toolJobs({ requestsPerSecond }: SoakOptions, { url, headers }: Called): Job[] {
  const { 'mcp-session-id': _, ...outside } = headers;
  const { begun, streamed, listed } = toolShares;
  const of = (body: string, share: number, bytes: number, sent = headers): Job => {
    const rate = requestsPerSecond * share;
    const reply = { replyBytesMin: bytes / 2, replyEndsWith: '}' };
    return (durationMsMax) => ({
      ...byTheClock,
      ...reply,
      url,
      headers: sent,
      durationMsMax,
      body,
      connections: 64,
      requestsPerSecond: rate,
    });
  };
  return [
    of(toolCallRequest, 1 - begun - streamed - listed, toolReplyBytes.call),
    of(initializeRequest, begun, toolReplyBytes.initialize, outside),
    of(toolStreamRequest, streamed, toolReplyBytes.stream),
    of(toolListRequest, listed, toolReplyBytes.list),
    (durationMsMax) => ({
      url,
      headers,
      body: toolSlowRequest,
      connections: leftCalls,
      rampMs: durationMsMax / 2,
      requestsMax: Number.MAX_SAFE_INTEGER,
      durationMsMax,
      cutAfterMs: durationMsMax,
      replyBytesMin: 0,
      replyEndsWith: '}',
    }),
  ];
}

function complain(results: readonly LoadResult[]): void {
  for (const { faults, faultSample, requests } of results)
    if (faults > (requests + faults) / 1_000)
      throw new Error(
        `${faults} of ${requests + faults} requests failed; the first: ${faultSample}`,
      );
}

async function look(
  gateway: Subject,
  results: readonly LoadResult[],
): Promise<Omit<Sample, 'atS' | 'rssMb'>> {
  const url = gateway.metricsUrl?.();
  if (url === undefined) throw new Error('The gateway has no address for its metrics.');
  const text = await (await fetch(url)).text();
  const readingOf = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const resources: Record<string, number> = {};
  for (const [, kind, count] of text.matchAll(
    /^node_nodejs_active_resources\{[^}]*type="(\w+)"[^}]*\} (\d+)$/gm,
  ))
    resources[kind as string] = Number(count);
  return {
    heapMb: readingOf('node_nodejs_heap_size_used_bytes') / 2 ** 20,
    handles: readingOf('node_nodejs_active_handles_total'),
    resources,
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    p99Ms: results[0]?.latencyMs.p99 ?? Number.NaN,
    warnings: gateway.warnings?.() ?? 0,
  };
}
