import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type McpLab, startMcpLab } from './mcp-lab.ts';

/** Servers that tell far more in a call than its caller reads: it is left with them, whatever lies between the two. */
let lab: McpLab;
const floods: Flood[] = [];

interface Flood {
  readonly url: string;
  /** Bytes that the gateway took. */
  readonly sent: () => number;
  close(): Promise<void>;
}

beforeAll(async () => {
  lab = await startMcpLab();
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all(floods.map((flood) => flood.close()));
});

const wholeBytes = 36_000_000;
/** Of sockets on the way, of both sides, and what is read ahead. */
const heldBytesMax = 26_000_000;
type Speaks = 'older' | 'newer' | 'HTTP+SSE';

const told = `data: ${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'x'.repeat(60_000) },
})}\n\n`;

async function startFlood(speaks: Speaks): Promise<Flood> {
  let sent = 0;
  let link: ServerResponse | undefined;
  const write = (res: ServerResponse, id: unknown): void => {
    while (sent < wholeBytes) {
      sent += told.length;
      if (!res.write(told)) return void res.once('drain', () => write(res, id));
    }
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'at last' }] };
    res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    if (res !== link) res.end();
  };
  const server = createServer(async (req, res) => {
    const body = await text(req);
    if (req.method !== 'POST') {
      if (speaks !== 'HTTP+SSE') return void res.writeHead(405).end();
      link = res.writeHead(200, { 'content-type': 'text/event-stream' });
      return void res.write('event: endpoint\ndata: /messages\n\n');
    }
    const { id, method } = JSON.parse(body) as { id?: unknown; method?: string };
    if (id === undefined) return void res.writeHead(202).end();
    const answer = (status: number, told: object) => {
      if (link !== undefined) {
        res.writeHead(202).end();
        return void link.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...told })}\n\n`);
      }
      const session = speaks === 'older' ? { 'mcp-session-id': 'only' } : {};
      res.writeHead(status, { 'content-type': 'application/json', ...session });
      res.end(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
    };
    const capabilities = { tools: {}, logging: {} };
    const isNewer = speaks === 'newer';
    if (method === 'tools/call') {
      if (link === undefined)
        return write(res.writeHead(200, { 'content-type': 'text/event-stream' }), id);
      res.writeHead(202).end();
      return write(link, id);
    }
    if (method === 'initialize' && !isNewer)
      return answer(200, {
        result: {
          protocolVersion: '2025-06-18',
          capabilities,
          serverInfo: { name: 'flood', version: '1' },
        },
      });
    if (method === 'server/discover' && isNewer)
      return answer(200, {
        result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities },
      });
    answer(400, { error: { code: isNewer ? -32022 : -32000, message: 'Not here' } });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const flood: Flood = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sent: () => sent,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  floods.push(flood);
  return flood;
}

const keyHeaders = () => ({
  'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

async function begin(url: string): Promise<Record<string, string>> {
  const clientInfo = { name: 'slow', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const response = await fetch(url, {
    method: 'POST',
    headers: keyHeaders(),
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

/** A call whose answer nobody reads yet. */
function ask(url: URL, headers: Record<string, string>, params: object): Socket {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const lines = Object.entries({ ...keyHeaders(), ...headers, 'content-length': body.length });
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  return socket;
}

/** In the suite every second: both eras, and all that servers speak. */
const ways: readonly ['older' | 'newer', Speaks][] = [
  ['older', 'newer'],
  ['older', 'older'],
  ['older', 'HTTP+SSE'],
  ['newer', 'newer'],
  ['newer', 'older'],
];

it.each(inTurns(ways, 2))('a client of the %s era, at a server of %s', async (client, speaks) => {
  const flood = await startFlood(speaks);
  const { slug } = await lab.save({
    url: flood.url,
    transport: speaks === 'HTTP+SSE' ? 'sse' : 'http',
  });
  const url = new URL(lab.urls(slug)[0] as string);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/logLevel': 'debug',
  };
  const newer = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'flood',
  };
  const isOlder = client === 'older';
  const socket = ask(url, isOlder ? await begin(url.href) : newer, {
    name: 'flood',
    arguments: {},
    ...(isOlder ? {} : { _meta }),
  });
  await eventually(() => expect(flood.sent()).toBeGreaterThan(0));
  // As much as goes goes in a fraction of this.
  let before = -1;
  while (before !== flood.sent()) {
    before = flood.sent();
    await delay(500);
  }
  expect(flood.sent()).toBeLessThan(heldBytesMax);
  let end = '';
  socket.resume().on('data', (piece) => {
    end = (end + piece.toString('latin1')).slice(-1000);
  });
  await eventually(() => expect(end).toContain('at last'));
  socket.destroy();
});
