import type { GatewayError } from '@sluice/errors';
import { jsonBounds } from '@sluice/json';
import { type SseBlock, SseReader } from '@sluice/mcp';
import type { JsonObject } from '@sluice/providers';
import type { ReplySink, StreamReply } from '../exchange/reply.ts';
import { abortReason } from '../http/caller-gone.ts';
import { currentResponse, type KeptDeps } from './current-response.ts';
import type { StoredOwner } from './files.ts';
import { eventIn } from './kept-reply.ts';
import { keptFault } from './kept-store.ts';

export interface AskedEvents {
  /** A UUID. */
  readonly id: string;
  readonly owner: StoredOwner;
  /** Those up to this number are known. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** Proxies close what is silent for longer. */
const silenceMs = 15_000;
const ends: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'response.incomplete',
]);

/** The events of a response in the background behind those that the caller knows, as they were told first, until it has ended. */
export function eventsReply(
  { id, owner, after, signal }: AskedEvents,
  deps: KeptDeps,
): StreamReply {
  let isWhole = false;
  const stream = deps.register.events(owner.workspaceId, id);
  // Failures before anybody reads are told to whoever does.
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  stream.pause();
  const cancel = () => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });

  function pipeTo(sink: ReplySink): void {
    const reader = new SseReader(jsonBounds.reply.bytesMax);
    let last = -1;
    let hasEnded = false;
    const timer = setInterval(() => sink.write(Buffer.from(': \n\n')), silenceMs);
    timer.unref();
    const settle = () => {
      clearInterval(timer);
      signal.removeEventListener('abort', cancel);
    };
    const cut = (error: unknown) => {
      settle();
      const fault = signal.aborted ? abortReason(signal) : keptFault(error, deps.register);
      if (fault.code === 'request.aborted') return sink.cut(fault.code);
      // What was told ended with a whole event, and goes on behind it for whoever asks again.
      sink.write(errorOf(fault, Math.max(last, after)));
      sink.end();
    };
    if (failure !== undefined) {
      cut(failure);
      return;
    }
    stream.on('error', cut);
    sink.onDrain(() => stream.resume());
    stream.on('data', ({ events }: { events: Uint8Array }) => {
      for (const block of reader.push(Buffer.from(events))) {
        const event = eventOfBlock(block);
        if (typeof event?.sequence_number === 'number') last = event.sequence_number;
        if (ends.has(String(event?.type))) hasEnded = true;
        if (last > after && !sink.write(block.bytes)) stream.pause();
      }
    });
    stream.on('end', () => {
      settle();
      if (hasEnded) {
        isWhole = true;
        return sink.end();
      }
      // It ended where no event could tell so: cancelled, or refused before it began.
      currentResponse(id, owner, deps).then(
        ({ response }) => {
          isWhole = true;
          sink.write(endOf(response, Math.max(last, after) + 1));
          sink.end();
        },
        (error: unknown) => cut(error),
      );
    });
    stream.resume();
  }

  return {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    pipeTo,
    discard: cancel,
    wasWhole: () => isWhole,
  };
}

/** As its provider said it, which may be no JSON. */
function eventOfBlock({ data }: SseBlock): JsonObject | undefined {
  return data?.startsWith('{') === true ? eventIn(data) : undefined;
}

/** Has the number of the last event, so that whoever goes on from it misses none. */
function errorOf({ type, code, message }: GatewayError, last: number): Buffer {
  const number = last < 0 ? {} : { sequence_number: last };
  const error = { type, code, message, param: null };
  const data = JSON.stringify({ type: 'error', ...number, code, message, param: null, error });
  return Buffer.from(`event: error\ndata: ${data}\n\n`);
}

/** What was cancelled has no event of its own at the vendor. */
function endOf(response: JsonObject, number: number): Buffer {
  const ended = `response.${String(response.status)}`;
  const type = ends.has(ended) ? ended : 'response.failed';
  const data = JSON.stringify({ type, sequence_number: number, response });
  return Buffer.from(`event: ${type}\ndata: ${data}\n\n`);
}
