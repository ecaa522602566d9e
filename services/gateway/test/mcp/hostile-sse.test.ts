import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpLab, startMcpLab } from './mcp-lab.ts';

/** Servers of HTTP+SSE that do what they should not, for callers of both eras, at two gateways that share a Redis. */
let lab: McpLab;
beforeAll(async () => {
  lab = await startMcpLab({ gateways: 2, redis: true });
});
afterAll(() => lab.stop());

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly _meta?: { readonly progressToken?: string } };
}

/** What a server does in place of what it should; true = it did. */
interface Faults {
  opened?(stream: ServerResponse): boolean;
  called?(message: Message, say: (message: object) => void): number | undefined;
}

async function startFaulty(faults: Faults) {
  const streams = new Map<string, ServerResponse>();
  const calls: Message[] = [];
  const server = createServer(async (req, res) => {
    if (req.method === 'GET') {
      const id = `${streams.size + 1}`;
      streams.set(id, res.writeHead(200, { 'content-type': 'text/event-stream' }));
      if (faults.opened?.(res) !== true) res.write(`event: endpoint\ndata: /messages?s=${id}\n\n`);
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece);
    const message = JSON.parse(String(Buffer.concat(pieces))) as Message;
    const stream = streams.get(new URL(req.url ?? '', 'http://x').searchParams.get('s') ?? '');
    const say = (answer: object) =>
      stream?.write(
        `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n\n`,
      );
    if (message.method === 'initialize')
      say({
        result: {
          protocolVersion: '2024-11-05',
          capabilities: { tools: {} },
          serverInfo: { name: 'faulty', version: '1' },
        },
      });
    const isCall = message.method === 'tools/call';
    if (isCall) calls.push(message);
    const status = (isCall ? faults.called?.(message, say) : undefined) ?? 202;
    res.writeHead(status).end();
    if (isCall && status === 202) say({ result: { content: [{ type: 'text', text: 'done' }] } });
  });
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
  const { slug } = await lab.save({ url, transport: 'sse' });
  return {
    slug,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function post(slug: string, gateway: number, body: object, headers: object = {}) {
  const answer = await fetch(lab.urls(slug)[gateway] as string, {
    method: 'POST',
    headers: {
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    signal: AbortSignal.timeout(15_000),
  });
  const text = await answer.text();
  const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
  return { headers: answer.headers, events, last: events.at(-1) ?? JSON.parse(text || 'null') };
}

const call = (more: object = {}) => ({
  id: 'c',
  method: 'tools/call',
  params: { name: 'x', ...more },
});
const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const newer = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'x' };

/** A call at a gateway, by a caller of each era; the older one's session is begun at the first. */
const eras: Record<string, (slug: string, gateway: number) => ReturnType<typeof post>> = {
  async older(slug, gateway) {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const begun = await post(slug, 0, { id: 'i', method: 'initialize', params });
    const session = begun.headers.get('mcp-session-id');
    if (session === null) return begun;
    return post(slug, gateway, call(), { 'mcp-session-id': session });
  },
  newer: (slug, gateway) =>
    post(
      slug,
      gateway,
      call({ _meta: { [versionKey]: '2026-07-28', [capabilitiesKey]: {}, progressToken: 'p' } }),
      newer,
    ),
};

describe.each(Object.keys(eras))('a server of HTTP+SSE, for a caller of the %s era', (era) => {
  const ask = (slug: string, gateway = 0) => eras[era]?.(slug, gateway) ?? expect.fail();

  it('that ends its stream as soon as it is open fails the call at once', async () => {
    let isOver = false;
    const server = await startFaulty({
      opened(stream) {
        if (isOver) return false;
        stream.end('event: endpoint\ndata: /messages?s=1\n\n');
        return true;
      },
    });
    const { last } = await ask(server.slug);
    expect(last.error).toMatchObject({ code: -32603 });
    isOver = true;
    expect((await ask(server.slug)).last.result.content).toEqual([{ type: 'text', text: 'done' }]);
    await server.close();
  });

  it.each([0, 1])('that fails a call is asked it once (gateway %i)', async (gateway) => {
    const server = await startFaulty({ called: () => 500 });
    const { last } = await ask(server.slug, gateway);
    expect(last.error).toMatchObject({ code: -32603, message: expect.stringContaining('500') });
    expect(server.calls.length).toBe(1);
    await server.close();
  });

  it('that names an address of another host is told of by these words', async () => {
    const server = await startFaulty({
      opened: (stream) => stream.write('event: endpoint\ndata: http://169.254.169.254/m\n\n'),
    });
    const { message } = (await ask(server.slug)).last.error;
    expect(message).toContain('names an address of another host');
    await server.close();
  });
});

it('a server of HTTP+SSE that tells much at once is heard to the end', async () => {
  const steps = Array.from({ length: 500 }, (_, step) => step);
  const server = await startFaulty({
    called({ params }, say) {
      const { progressToken } = params?._meta ?? {};
      for (const progress of steps)
        say({
          id: undefined,
          method: 'notifications/progress',
          params: { progressToken, progress },
        });
      return undefined;
    },
  });
  const { events, last } = (await eras.newer?.(server.slug, 0)) ?? expect.fail();
  expect(events.slice(0, -1).map(({ params }) => params.progress)).toEqual(steps);
  expect(last.result.resultType).toBe('complete');
  await server.close();
});
