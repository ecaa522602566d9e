import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { eventually } from './eventually.ts';
import { keepAliveMs } from './keep-alive.ts';
import { json, type UpstreamReply } from './upstream-replies.ts';

export interface RecordedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** As received: names in their case, duplicates kept. */
  rawHeaders: string[];
  body: Buffer;
  json(): unknown;
  /** Whether the caller ended the connection before the answer was complete. */
  aborted: boolean;
}

export type UpstreamHandler =
  | UpstreamReply
  | ((request: RecordedRequest) => UpstreamReply | Promise<UpstreamReply>);

export interface Upstream {
  readonly url: string;
  readonly port: number;
  /** All requests so far, oldest first. */
  readonly requests: RecordedRequest[];
  /** Replaces the behaviour for the requests to come. */
  handle(handler: UpstreamHandler): void;
  /** Waits until so many requests have arrived in all, and returns the last of them. */
  received(count: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

/** An HTTP server that records what it is asked and answers, or fails to, as told. */
export async function startUpstream(handler: UpstreamHandler = json(200, {})): Promise<Upstream> {
  let current = handler;
  const requests: RecordedRequest[] = [];
  const closing = new AbortController();

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    const recorded = recordedRequest(incoming, Buffer.alloc(0));
    response.once('close', () => {
      recorded.aborted = !response.writableFinished;
      gone.abort();
    });
    try {
      recorded.body = await buffer(incoming);
    } catch {
      // The caller left while sending; the request still counts as seen.
      recorded.aborted = true;
      requests.push(recorded);
      return;
    }
    requests.push(recorded);
    const reply = typeof current === 'function' ? await current(recorded) : current;
    await reply.send(response, AbortSignal.any([gone.signal, closing.signal]));
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    answer(incoming, response).catch((error: Error) => {
      // A caller who left ends the script of the reply; that is not a fault.
      if (response.destroyed || closing.signal.aborted) return;
      response.destroy(error);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    handle(next) {
      current = next;
    },
    async received(count) {
      await eventually(() => requests.length >= count);
      return requests[count - 1] as RecordedRequest;
    },
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function recordedRequest(incoming: IncomingMessage, body: Buffer): RecordedRequest {
  const recorded: RecordedRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body,
    json: () => JSON.parse(recorded.body.toString('utf8')),
    aborted: false,
  };
  return recorded;
}
