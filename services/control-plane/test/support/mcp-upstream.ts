import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { keepAliveMs } from '@sluice/testkit';
import { z } from 'zod';

export interface LocalServer {
  readonly url: string;
  /** What arrived, newest last. */
  readonly seen: IncomingMessage[];
  close(): Promise<void>;
}

/** An HTTP server on a port of its own. */
export async function listenLocally(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<LocalServer> {
  const seen: IncomingMessage[] = [];
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    seen.push(req);
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export interface Offered {
  tools?: readonly string[];
  /** Answers in JSON instead of event streams, and keeps no sessions. */
  plain?: boolean;
}

/**
 * An MCP server of the protocol's own SDK, with tools, a prompt, two resources
 * of one name and a template. What it offers is read anew in each session.
 */
export function startMcpServer(offered: Offered = {}): Promise<LocalServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  async function transportFor(req: IncomingMessage) {
    const known = sessions.get(String(req.headers['mcp-session-id']));
    if (known !== undefined) return known;
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: offered.plain ? undefined : randomUUID,
      enableJsonResponse: offered.plain ?? false,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await makeServer(offered).connect(transport as never);
    return transport;
  }
  return listenLocally((req, res) => {
    transportFor(req)
      .then((transport) => transport.handleRequest(req, res))
      .catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
}

/** The same over HTTP with server-sent events, as of 2024-11-05: a stream at `/sse`, messages to `/messages`. */
export function startSseServer(offered: Offered = {}): Promise<LocalServer> {
  const sessions = new Map<string, SSEServerTransport>();
  return listenLocally((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://local');
    if (req.method === 'GET' && pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', res);
      sessions.set(transport.sessionId, transport);
      void makeServer(offered).connect(transport as never);
      return;
    }
    const session = sessions.get(searchParams.get('sessionId') ?? '');
    if (session === undefined) return void res.writeHead(404).end();
    void session.handlePostMessage(req, res);
  });
}

function makeServer({ tools = ['add', 'delete_all'] }: Offered): McpServer {
  const server = new McpServer({ name: 'calculator', version: '3.1.4', title: 'The Calculator' });
  for (const tool of tools)
    server.registerTool(
      tool,
      { title: `Does ${tool}`, description: 'A tool.', inputSchema: { a: z.number() } },
      () => ({ content: [] }),
    );
  server.registerPrompt('greet', { argsSchema: { who: z.string() } }, () => ({ messages: [] }));
  for (const uri of ['file:///one', 'file:///two'])
    server.registerResource('notes', uri, { mimeType: 'text/plain' }, () => ({ contents: [] }));
  server.registerResource(
    'user',
    new ResourceTemplate('users://{id}', { list: undefined }),
    {},
    () => ({ contents: [] }),
  );
  return server;
}
