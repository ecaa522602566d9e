import { streamBytes, streamEvents, streamRequest, unaryReply, unaryRequest } from './canned.ts';
import type { LoadResult } from './load-job.ts';
import type { Part } from './parts.ts';
import type { Place } from './place.ts';
import { usageOf } from './process-usage.ts';
import type { Subject } from './subject.ts';

/** What every measurement works with. */
export interface Workbench {
  /** The first is the bare proxy, to which the others are compared. */
  readonly subjects: readonly Subject[];
  readonly load: Part;
  readonly upstreamUrl: string;
  readonly quick: boolean;
  /** `--open`. */
  readonly openStreams?: number | undefined;
}

export interface Round extends LoadResult {
  /** CPU of what was measured, for each request. */
  cpuUsPerRequest: number;
  /** The same of the thread that serves, alone. */
  loopUsPerRequest: number;
  /** Share of one core that it used. */
  coreShare: number;
  requestsPerSecond: number;
}

const chatReplies: NonNullable<Place['replies']> = {
  unary: { bytesMin: unaryReply.length / 2, endsWith: '}' },
  stream: { bytesMin: streamBytes / 2, endsWith: '[DONE]' },
};

export interface Shape {
  connections: number;
  requestsMax: number;
  durationMsMax: number;
  requestsPerSecond?: number;
  /** Makes the requests streams, with one event each so many ms. */
  eventEveryMs?: number;
  /** Cuts the streams after so long, in ms: they are only held open. */
  cutAfterMs?: number;
  /** In place of what suits the shape; 0 = all connections begin at once. */
  rampMs?: number;
}

/** Sends one batch of requests. @throws Error when one request of a hundred or more fails: such figures mean nothing. */
export async function runRound(bench: Workbench, place: Place, shape: Shape): Promise<Round> {
  const { eventEveryMs, ...limits } = shape;
  const stream = eventEveryMs !== undefined;
  const replies = place.replies ?? chatReplies;
  const expected = stream ? replies.stream : replies.unary;
  const before = place.pid === undefined ? undefined : usageOf(place.pid());
  const result = await bench.load.send({
    ...limits,
    url: place.url,
    headers: place.headers,
    varied: place.varied,
    method: place.method,
    body: place.body ?? (stream ? streamRequest(eventEveryMs) : unaryRequest),
    rampMs: shape.rampMs ?? (shape.cutAfterMs ?? (eventEveryMs ?? 0) * streamEvents.length * 2) / 2,
    replyBytesMin: expected.bytesMin,
    replyEndsWith: expected.endsWith,
  });
  const after = place.pid === undefined ? undefined : usageOf(place.pid());
  const answered = result.requests + result.cut;
  if (answered === 0 || result.faults > answered / 100) {
    throw new Error(
      `${place.name}: ${result.faults} faults in ${result.requests + result.faults} requests; the first: ${result.faultSample}`,
    );
  }
  const cpuMs = (after?.cpuMs ?? 0) - (before?.cpuMs ?? 0);
  const loopMs = (after?.loopMs ?? 0) - (before?.loopMs ?? 0);
  return {
    ...result,
    cpuUsPerRequest: (cpuMs * 1000) / (result.requests + result.faults),
    loopUsPerRequest: (loopMs * 1000) / (result.requests + result.faults),
    coreShare: cpuMs / result.elapsedMs,
    requestsPerSecond: (result.requests * 1000) / result.elapsedMs,
  };
}

/**
 * The same batch for every place, one after the other, several times over and
 * each time in the other direction: what slows the machine for a while then
 * falls on all of them alike.
 */
export async function interleave(
  bench: Workbench,
  places: readonly Place[],
  rounds: number,
  shape: Shape,
): Promise<Round[][]> {
  const results: Round[][] = places.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...places.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) results[index]!.push(await runRound(bench, places[index]!, shape));
  }
  return results;
}

/** Lets compilers and connection pools settle before anything counts. */
export async function warmUp(bench: Workbench, streams: boolean): Promise<void> {
  for (const subject of bench.subjects) {
    await runRound(bench, subject, {
      connections: 32,
      requestsMax: bench.quick ? 10_000 : 30_000,
      durationMsMax: bench.quick ? 5_000 : 20_000,
    });
    if (streams)
      await runRound(bench, subject, {
        connections: 50,
        requestsMax: bench.quick ? 400 : 1_000,
        durationMsMax: 5_000,
        eventEveryMs: 2,
      });
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
