import { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { GuardedFetch } from '@sluice/outbound';
import { refuseCostlyJson } from '../../kernel/http/json-body.ts';
import { faultOf, McpFault } from './mcp-fault.ts';

export interface GuardedTransportOptions {
  readonly fetch: GuardedFetch;
  readonly url: string;
  readonly transport: string;
  /** Of ours, for the server to know the caller by. */
  readonly headers: Readonly<Record<string, string>>;
  /** For each reply. */
  readonly bytesMax: number;
  /** Ends every exchange. */
  readonly signal: AbortSignal;
}

export interface GuardedTransport {
  readonly transport: StreamableHTTPClientTransport | SSEClientTransport;
  /** Why an exchange failed, in words that hold nothing of what was sent; undefined = none did. */
  readonly fault: () => McpFault | undefined;
  /** Ends what is asked when an answer cannot be read any more, too. */
  readonly signal: AbortSignal;
}

/** A transport of the protocol's own SDK whose every request goes through our guard: addresses, bytes, time, and what JSON may cost. */
export function guardedTransport(options: GuardedTransportOptions): GuardedTransport {
  const { fetch, bytesMax, headers } = options;
  const isSse = options.transport === 'sse';
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  let fault: McpFault | undefined;
  /** Whoever waits for an answer that was to come here waits in vain. */
  const onBroken = (error: unknown) => {
    fault ??= faultOf(error);
    broken.abort();
  };

  async function guarded(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const method = init.method ?? 'GET';
    try {
      const reply = await fetch.stream(String(input), {
        method: method as 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        bytesMax,
        signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal,
      });
      const { status } = reply;
      // Wherever it points to, nobody checked that.
      if (status >= 300 && status < 400) {
        reply.close();
        throw statusFault(status);
      }
      const type = String(reply.headers['content-type'] ?? '');
      const kept = new Headers();
      for (const name of ['mcp-session-id', 'www-authenticate'])
        if (typeof reply.headers[name] === 'string') kept.set(name, String(reply.headers[name]));
      const isOk = status >= 200 && status < 300;
      if (isOk && /^text\/event-stream\b/i.test(type)) {
        kept.set('content-type', type);
        const isAwaited = method === 'POST' || isSse;
        const events = cheapEvents(reply.body, isAwaited ? onBroken : () => {});
        return new Response(events, { status, headers: kept });
      }
      const body = await wholeOf(reply.body);
      if (body.length === 0 || [204, 205].includes(status))
        return new Response(null, { status, headers: kept });
      // Who only takes a message answers in whatever words.
      if (status === 200 && !isSse) requireJson(body);
      kept.set('content-type', status === 200 ? 'application/json' : type || 'text/plain');
      return new Response(new Uint8Array(body), { status, headers: kept });
    } catch (error) {
      const told = error instanceof McpFault ? error : faultOf(error);
      // A stream of what a server says by itself is one that it need not have.
      if (method === 'POST' || isSse) fault ??= told;
      throw told;
    }
  }

  const settings = { fetch: guarded, requestInit: { headers: { ...headers } } };
  const address = new URL(options.url);
  return {
    transport: isSse
      ? new SSEClientTransport(address, settings)
      : new StreamableHTTPClientTransport(address, {
          ...settings,
          // What it missed nobody asks for again.
          reconnectionOptions: {
            maxRetries: 0,
            initialReconnectionDelay: 1_000,
            maxReconnectionDelay: 1_000,
            reconnectionDelayGrowFactor: 1,
          },
        }),
    fault: () => fault,
    signal,
  };
}

export function statusFault(status: number): McpFault {
  return new McpFault(`The server answered with the status ${status}.`, status);
}

async function wholeOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function requireJson(body: Buffer): void {
  try {
    refuseCostlyJson(body);
  } catch (error) {
    throw new McpFault('The server answered with something that is no JSON.', undefined, error);
  }
  // Whether it is any is for the SDK to say; a page is not even given to it.
  if (!/^\s*[[{]/.test(body.subarray(0, 256).toString('latin1')))
    throw new McpFault('The server answered with something that is no JSON.');
}

/** Events as they come, none of them before it is known what reading it costs. */
function cheapEvents(
  body: AsyncIterable<Buffer>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const events = eventsOf(body);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await events.next();
        if (done) return controller.close();
        for (const line of value.toString('utf8').split(/\r\n|\n|\r/))
          if (line.startsWith('data:')) refuseCostlyJson(Buffer.from(line.slice('data:'.length)));
        controller.enqueue(new Uint8Array(value));
      } catch (error) {
        onBroken(error);
        throw error;
      }
    },
    async cancel() {
      await events.return(undefined);
    },
  });
}

/** The bytes in pieces that end with an empty line, which ends an event. */
async function* eventsOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let held: Buffer[] = [];
  // The line that ends an event may have begun in chunks before.
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    held.push(chunk);
    const seam = Buffer.concat([tail, chunk]);
    const end = lastEventEnd(seam);
    tail = seam.subarray(-3);
    if (end === undefined) continue;
    const rest = chunk.subarray(Math.max(0, chunk.length - (seam.length - end)));
    const whole = Buffer.concat(held);
    yield whole.subarray(0, whole.length - rest.length);
    held = rest.length === 0 ? [] : [rest];
    tail = rest.subarray(-3);
  }
  if (held.length > 0) yield Buffer.concat(held);
  return undefined;
}

function lastEventEnd(bytes: Buffer): number | undefined {
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].flatMap((mark) => {
    const at = bytes.lastIndexOf(mark);
    return at < 0 ? [] : [at + mark.length];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}
