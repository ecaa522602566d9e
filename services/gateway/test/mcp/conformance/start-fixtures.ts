import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  classifyInboundRequest,
  createMcpHandler,
  type EventId,
  type EventStore,
  isInitializeRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { keepAliveMs } from '@sluice/testkit';
import { conformanceServer, type FixtureHooks } from './conformance-fixtures.ts';

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The fixtures behind the SDK's own transports.
 * @param eras  `both`, with sessions for the older; `newer` refuses that
 */
export async function startFixtures(eras: 'both' | 'newer'): Promise<RunningServer> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const hooks: FixtureHooks = {
    toolsChanged: () => newer.notify.toolsChanged(),
    promptsChanged: () => newer.notify.promptsChanged(),
    closeStream: (sessionId, requestId) => sessions.get(sessionId ?? '')?.closeSSEStream(requestId),
  };
  const newer = createMcpHandler(() => conformanceServer(hooks), { legacy: 'reject' });
  const handleNewer = toNodeHandler(newer);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, method = 'GET' } = request;
    const isKnown =
      validateHostHeader(headers.host, localhostAllowedHostnames()).ok &&
      validateOriginHeader(headers.origin, localhostAllowedOrigins()).ok;
    if (!isKnown) return refuse(response, 403, 'This host or origin is not allowed');
    const body = method === 'POST' ? await readBody(request) : undefined;
    const inbound = classifyInboundRequest({
      httpMethod: method,
      protocolVersionHeader: String(headers['mcp-protocol-version'] ?? '') || undefined,
      mcpMethodHeader: String(headers['mcp-method'] ?? '') || undefined,
      body,
    });
    if (eras === 'newer' || inbound.kind !== 'legacy') return handleNewer(request, response, body);
    const id = headers['mcp-session-id'];
    if (id === undefined && isInitializeRequest(body)) {
      const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        eventStore: keptEvents(),
        retryInterval: 500,
        onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
        onsessionclosed: (sessionId) => void sessions.delete(sessionId),
      });
      await conformanceServer(hooks).connect(transport);
      return transport.handleRequest(request, response, body);
    }
    if (id === undefined) return refuse(response, 400, 'Mcp-Session-Id is missing');
    const transport = sessions.get(String(id));
    if (transport === undefined) return refuse(response, 404, 'Session not found');
    return transport.handleRequest(request, response, body);
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await newer.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** Events of one session, for streams that are taken up again. */
function keptEvents(): EventStore {
  const events: { id: EventId; stream: string; message: unknown }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}_${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(lastId, { send }) {
      const at = events.findIndex(({ id }) => id === lastId);
      const stream = events[at]?.stream ?? '';
      for (const event of events.slice(at + 1))
        if (event.stream === stream && Object.keys(event.message as object).length > 0)
          await send(event.id, event.message as never);
      return stream;
    },
  };
}
