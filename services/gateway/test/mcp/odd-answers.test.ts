import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';

/** Servers that are careless with ids and events: clients compare loosely, and nothing may pass unjudged by that. */
let lab: McpLab;
const eras = ['older', 'newer'] as const;
type Era = (typeof eras)[number];
const servers = {} as Record<Era, { saved: SavedServer; odd: Odd }>;
type Odd = Awaited<ReturnType<typeof startOdd>>;

beforeAll(async () => {
  lab = await startMcpLab();
  for (const era of eras) {
    const odd = await startOdd(era);
    const saved = await lab.save({
      url: odd.url,
      more: { policy: { access: { deny: ['hidden'] } } },
    });
    servers[era] = { saved, odd };
  }
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all(eras.map((era) => servers[era]?.odd.close()));
});

type Reply = (
  id: number | string,
) => { json: string } | { events: string | string[]; staysOpen?: boolean };

/** Begins as it should, and lists its tools as a case says. */
async function startOdd(era: Era) {
  let reply: Reply = () => ({ json: '{}' });
  const about = { capabilities: { tools: {} } };
  const serverInfo = { name: 'odd', version: '1' };
  const begun: Readonly<Record<string, object>> =
    era === 'older'
      ? { initialize: { protocolVersion: '2025-11-25', ...about, serverInfo } }
      : { 'server/discover': { ...newer, ...about, supportedVersions: ['2026-07-28'] } };
  const server = createServer(async (req, res) => {
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const { id, method } = await messageOf(req);
    if (id === undefined) return void res.writeHead(202).end();
    const result = begun[method];
    const answer = result !== undefined ? { jsonrpc: '2.0', id, result } : undefined;
    if (answer === undefined && method !== 'tools/list')
      return void res
        .writeHead(era === 'newer' ? 404 : 200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}`);
    const sent = answer === undefined ? reply(id) : { json: JSON.stringify(answer) };
    const type = 'json' in sent ? 'application/json' : 'text/event-stream';
    res.writeHead(200, { 'content-type': type });
    if ('json' in sent) return void res.end(sent.json);
    for (const piece of [sent.events].flat()) {
      res.write(piece);
      await delay(20);
    }
    if (sent.staysOpen !== true) res.end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    replies(next: Reply) {
      reply = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const newer = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

async function messageOf(req: IncomingMessage) {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString()) as { id?: number | string; method: string };
}

/** The server's tools as its client lists them, which takes an id that reads as the same number. */
async function list(era: Era): Promise<string[]> {
  const client = era === 'older' ? await olderClient() : await newerClient();
  try {
    const { tools } = await client.listTools(undefined, { timeout: 5000 });
    return tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

async function olderClient() {
  return (await lab.connect(servers.older.saved.slug)).client;
}

async function newerClient() {
  const client = new ModernClient(
    { name: 'stranger', version: '2' },
    { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const [url = ''] = lab.urls(servers.newer.saved.slug);
  const headers = { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

const result = {
  ...newer,
  tools: ['shown', 'hidden'].map((name) => ({ name, inputSchema: { type: 'object' } })),
};
const answer = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
const event = (data: string) => `event: message\ndata: ${data}\n\n`;

describe.each(eras)('of a server of the %s era', (era) => {
  it.each<[string, Reply]>([
    ['in a body', (id) => ({ json: answer(String(id)) })],
    ['in a stream', (id) => ({ events: event(answer(String(id))) })],
  ])('an answer whose id is written as a text is the answer, %s', async (_, reply) => {
    servers[era].odd.replies(reply);
    expect(await list(era)).toEqual(['shown']);
  });

  it.each([
    ['around its digits', (id: unknown) => ` ${id}`],
    ['by another spelling', (id: unknown) => `${id}e0`],
  ])(
    'an answer to who knows what, which a client could take for its own %s, reaches nobody',
    async (_, spelled) => {
      servers[era].odd.replies((id) => ({ events: event(answer(spelled(id))) }));
      await expect(list(era)).rejects.toMatchObject({ code: -32603 });
      // The real one is found behind it.
      servers[era].odd.replies((id) => ({
        events: `id: 1\n${event(answer(spelled(id)))}${event(answer(id))}`,
      }));
      expect(await list(era)).toEqual(['shown']);
    },
  );

  it('an error that names no request is that of the call', async () => {
    const error = { code: -32042, message: 'log in' };
    servers[era].odd.replies(() => ({
      events: event(JSON.stringify({ jsonrpc: '2.0', id: null, error })),
    }));
    await expect(list(era)).rejects.toMatchObject({ code: -32042 });
  });

  it('an event that is no message is what its caller is told of, also where the stream goes on', async () => {
    servers[era].odd.replies(() => ({ events: event('{"jsonrpc":"2.0"}'), staysOpen: true }));
    await expect(list(era)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('an event that is no message'),
    });
  });

  it.each([
    ['a word', () => 'ok'],
    ['the end of another protocol', () => '[DONE]'],
    ['a broken notification', () => '{"jsonrpc":"2.0","method":"notifications/x","params":[1]}'],
    ['a broken answer to another', (id: unknown) => `{"jsonrpc":"2.0","id":"x${id}","result":1}`],
  ])(
    '%s in place of a message loses nobody the answer behind it, however they arrive',
    async (_, bad) => {
      for (const cut of [false, true]) {
        servers[era].odd.replies((id) => {
          const events = [event(bad(id)), event(answer(id))];
          return { events: cut ? events : events.join('') };
        });
        expect(await list(era)).toEqual(['shown']);
      }
      servers[era].odd.replies((id) => ({ events: event(bad(id)) }));
      await expect(list(era)).rejects.toMatchObject({
        code: -32603,
        message: expect.stringContaining('an event that is no message'),
      });
    },
  );

  it.each([
    ['half of it', (id: unknown) => answer(id).slice(0, -9)],
    ['without an id', () => '{"jsonrpc":"2.0","result":{"tools":[]}}'],
    ['with a result that is none', (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":1}`],
    ['in a batch', (id: unknown) => `[${answer(id)}]`],
  ])('the answer %s is the answer, whatever follows it and however they arrive', async (_, bad) => {
    for (const cut of [false, true]) {
      servers[era].odd.replies((id) => {
        const events = [event(bad(JSON.stringify(id))), event(answer(id))];
        return { events: cut ? events : events.join('') };
      });
      await expect(list(era)).rejects.toMatchObject({
        message: expect.stringContaining('an event that is no message'),
      });
    }
  });

  it.each([
    [
      'with more in it than is read',
      (id: unknown) =>
        `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${Array(60_000).fill('{}').join()}],"a":[${Array(360_001).fill(1).join()}]}}`,
      'too many values: with objects and lists counted 4, texts 3 and names of members 11, they must not exceed 600000',
    ],
    ['that is cut off', (id: unknown) => answer(id).slice(0, -9), 'not valid JSON'],
    ['in a batch', (id: unknown) => `[${answer(id)}]`, 'A batch is not accepted'],
  ])('a body %s is an error that says so', async (_, body, why) => {
    servers[era].odd.replies((id) => ({ json: body(JSON.stringify(id)) }));
    await expect(list(era)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining(why),
    });
  });

  it('events of other names are no messages, whatever they say', async () => {
    servers[era].odd.replies((id) => ({
      events: `event: ping\ndata: {}\n\nevent: heartbeat\ndata: 2026-01-01T00:00\n\nevent: ping\ndata: []\n\n${event(answer(id))}`,
    }));
    expect(await list(era)).toEqual(['shown']);
    // But for what a client that looks at no names would take for one.
    servers[era].odd.replies((id) => ({
      events: `event: other\ndata: {"id":1,${answer(id).slice(1)}\n\n`,
    }));
    await expect(list(era)).rejects.toMatchObject({ code: -32603 });
  });
});
