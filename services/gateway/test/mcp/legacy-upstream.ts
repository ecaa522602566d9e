import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { keepAliveMs } from '@sluice/testkit';

/** Whatever a transport can be connected to. */
interface Connectable {
  connect(transport: StreamableHTTPServerTransport): Promise<void>;
}

export interface LegacyUpstream {
  readonly url: string;
  /** All that came, in order. */
  readonly requests: SeenRequest[];
  readonly sessions: ReadonlyMap<string, StreamableHTTPServerTransport>;
  /** As after a restart: no session is known any more. */
  forget(): void;
  close(): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { id?: unknown; method?: string; params?: Record<string, unknown> } | undefined;
}

export interface LegacyUpstreamOptions {
  readonly makeServer: () => Connectable;
  /** Answers without streams. */
  readonly json?: boolean;
  /** Status for sessions that are not known: 404 as it should be, or 400 as many have it. */
  readonly unknownStatus?: number;
  /** True = it is answered, and nothing else is. */
  readonly guard?: (req: IncomingMessage, res: ServerResponse) => boolean;
}

/** A server of the SDK of the older era, with sessions in memory and events that can be asked for again. */
export async function startLegacyUpstream({
  makeServer,
  json = false,
  unknownStatus = 404,
  guard,
}: LegacyUpstreamOptions): Promise<LegacyUpstream> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const requests: SeenRequest[] = [];
  const server = createServer(async (req, res) => {
    const body = await bodyOf(req);
    requests.push({ method: req.method ?? '', headers: req.headers, body });
    if (guard?.(req, res) === true) return;
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      res.writeHead(unknownStatus, { 'content-type': 'application/json' });
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
      res.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      return;
    }
    const transport = known ?? newTransport();
    if (known === undefined) await makeServer().connect(transport);
    await transport.handleRequest(req, res, body);
  });

  function newTransport() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: json,
      ...(json ? {} : { eventStore: new MemoryEvents() }),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    return transport;
  }

  server.keepAliveTimeout = keepAliveMs;
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    sessions,
    forget: () => sessions.clear(),
    async close() {
      for (const transport of sessions.values()) await transport.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A server of HTTP+SSE: a stream for each session, and an address for its messages.
 * @param opening waited for before a stream is opened
 */
export async function startSseUpstream(
  makeServer: () => { connect(transport: SSEServerTransport): Promise<void> },
  opening?: () => Promise<void>,
) {
  const sessions = new Map<string, SSEServerTransport>();
  const messages: SeenRequest['body'][] = [];
  const server = createServer(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://localhost');
    if (req.method === 'GET') {
      await opening?.();
      const transport = new SSEServerTransport('/messages', res);
      sessions.set(transport.sessionId, transport);
      res.on('close', () => sessions.delete(transport.sessionId));
      await makeServer().connect(transport);
      return;
    }
    const transport = sessions.get(url.searchParams.get('sessionId') ?? '');
    const body = await bodyOf(req);
    messages.push(body);
    if (transport === undefined) res.writeHead(404).end('No transport found');
    else await transport.handlePostMessage(req, res, body);
  });
  server.keepAliveTimeout = keepAliveMs;
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`,
    sessions,
    /** All that was sent to it, in order. */
    messages,
    /** As after a restart. */
    forget() {
      sessions.clear();
      server.closeAllConnections();
    },
    /** Its stream goes on. */
    forgetOne(id: string) {
      sessions.delete(id);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(req: IncomingMessage): Promise<SeenRequest['body']> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return pieces.length === 0 ? undefined : JSON.parse(Buffer.concat(pieces).toString());
}

class MemoryEvents implements EventStore {
  readonly #events: { id: string; stream: string; message: JSONRPCMessage }[] = [];

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}_${this.#events.length}`;
    this.#events.push({ id, stream, message });
    return id;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex(({ id }) => id === lastEventId);
    const stream = this.#events[at]?.stream ?? '';
    for (const event of this.#events.slice(at + 1))
      if (event.stream === stream) await send(event.id, event.message);
    return stream;
  }
}
