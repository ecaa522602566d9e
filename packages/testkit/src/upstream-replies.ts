import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** What an upstream does with one request, good or bad. */
export interface UpstreamReply {
  /** `signal` aborts when the caller goes away or the upstream closes. */
  send(response: ServerResponse, signal: AbortSignal): Promise<void> | void;
}

type HeaderValues = Readonly<Record<string, string>>;

/** A whole answer. A string body is sent as it stands. */
export function json(status: number, body: unknown, headers: HeaderValues = {}): UpstreamReply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return bytes(status, Buffer.from(text), { 'content-type': 'application/json', ...headers });
}

/** Any bytes with any headers. */
export function bytes(status: number, body: Buffer, headers: HeaderValues = {}): UpstreamReply {
  return {
    send(response) {
      response.writeHead(status, { 'content-length': String(body.length), ...headers });
      response.end(body);
    },
  };
}

export interface SseOptions {
  status?: number;
  headers?: HeaderValues;
  /** Wait before each event after the first. */
  delayMs?: number;
  /** The connection breaks after this many events. */
  cutAfter?: number;
  /** Nothing more is sent after this many events, and the connection stays open. */
  stallAfter?: number;
  /** Sizes in bytes of the writes, repeated; cuts across events and characters. */
  chunking?: readonly number[];
}

/**
 * A stream. An event is a string that is sent as it stands when it ends with a
 * blank line, a string to be framed as `data:`, an object to be framed as JSON,
 * or bytes.
 */
export function sse(events: readonly unknown[], options: SseOptions = {}): UpstreamReply {
  return {
    async send(response, signal) {
      response.writeHead(options.status ?? 200, {
        'content-type': 'text/event-stream',
        ...options.headers,
      });
      response.flushHeaders();
      const { cutAfter = Number.POSITIVE_INFINITY, stallAfter = Number.POSITIVE_INFINITY } =
        options;
      const last = Math.min(cutAfter, stallAfter, events.length);
      if (options.chunking !== undefined && options.delayMs === undefined)
        await writeInPieces(
          response,
          Buffer.concat(events.slice(0, last).map(frame)),
          options.chunking,
          signal,
        );
      else
        for (const [index, event] of events.slice(0, last).entries()) {
          if (index > 0 && options.delayMs !== undefined)
            await delay(options.delayMs, undefined, { signal });
          await writeInPieces(response, frame(event), options.chunking ?? [], signal);
        }
      if (cutAfter <= events.length && cutAfter <= stallAfter) await cut(response);
      else if (stallAfter > events.length) response.end();
    },
  };
}

/** The connection is reset before any answer. */
export function reset(): UpstreamReply {
  return {
    send(response) {
      response.socket?.resetAndDestroy();
    },
  };
}

/** No answer ever; the connection stays open. */
export function hang(): UpstreamReply {
  return { send() {} };
}

/** Bytes that are not HTTP. */
export function garbage(): UpstreamReply {
  return {
    send(response) {
      response.socket?.end('\u0000\u0001 this is not HTTP\r\n\r\n');
    },
  };
}

/** The given reply, after a wait before its headers. */
export function slowHeaders(waitMs: number, reply: UpstreamReply = json(200, {})): UpstreamReply {
  return {
    async send(response, signal) {
      await delay(waitMs, undefined, { signal });
      await reply.send(response, signal);
    },
  };
}

/** The replies one after the other; the last one is repeated. */
export function sequence(...replies: readonly [UpstreamReply, ...UpstreamReply[]]): UpstreamReply {
  let next = 0;
  return {
    send(response, signal) {
      const reply = replies[Math.min(next, replies.length - 1)] as UpstreamReply;
      next += 1;
      return reply.send(response, signal);
    },
  };
}

function frame(event: unknown): Buffer {
  if (Buffer.isBuffer(event)) return event;
  if (typeof event !== 'string') return Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  const isFramed = event.endsWith('\n\n') || event.endsWith('\r\n\r\n');
  return Buffer.from(isFramed ? event : `data: ${event}\n\n`);
}

async function writeInPieces(
  response: ServerResponse,
  data: Buffer,
  sizes: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  if (sizes.length === 0) return write(response, data, signal);
  for (let offset = 0, turn = 0; offset < data.length; turn += 1) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    await write(response, data.subarray(offset, offset + size), signal);
    offset += size;
    // A turn of the event loop, so that each piece becomes a packet of its own.
    await new Promise(setImmediate);
  }
}

function write(response: ServerResponse, data: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    response.write(data, (error) => {
      signal.removeEventListener('abort', abort);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Ends the connection without the final chunk, after what was written has been handed over. */
async function cut(response: ServerResponse): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  await new Promise<void>((resolve) => socket.end(resolve));
  socket.destroy();
}
