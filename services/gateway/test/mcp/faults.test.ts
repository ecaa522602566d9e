import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream, startSseUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';

/** Servers that answer as none should, and calls that take too long. */
let lab: McpLab;
let upstream: LegacyUpstream;
let server: SavedServer;
let odd: Awaited<ReturnType<typeof startOdd>>;
let oddServer: SavedServer;
const timeoutMs = 1000;

beforeAll(async () => {
  const log: FixtureLog = { writes: 0, cancelled: 0 };
  [lab, upstream, odd] = await Promise.all([
    startMcpLab({ environment: { gateway: { MCP_REQUEST_TIMEOUT_MS: String(timeoutMs) } } }),
    startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
    startOdd(),
  ]);
  server = await lab.save({ url: upstream.url });
  oddServer = await lab.save({ url: odd.url });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
  await odd?.close();
});

type Answer = (res: ServerResponse, id: unknown) => void;

/** Begins sessions as it should, and answers all else as a case says. */
async function startOdd() {
  let answer: Answer = (res) => res.end();
  const told: string[] = [];
  const http = createServer(async (req, res) => {
    const message = JSON.parse((await bodyOf(req)) || '{}') as { id?: unknown; method?: string };
    told.push(message.method ?? req.method ?? '');
    if (message.method === 'initialize') {
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'odd' });
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
      };
      res.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    } else if (req.method !== 'POST') res.writeHead(405).end();
    else if (message.id === undefined) res.writeHead(202).end();
    else answer(res, message.id);
  });
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    told,
    answers(next: Answer) {
      answer = next;
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Of no era but the older one; while it does not begin sessions it knows none, and says nothing to who wants one. */
async function startSilent() {
  const state = { begins: false };
  let session = 0;
  const http = createServer(async (req, res) => {
    if (req.method === 'GET' && req.url === '/sse')
      return void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hi\n\n');
    const message = JSON.parse((await bodyOf(req)) || '{}') as { id?: unknown; method?: string };
    const json = (status: number, answer: object) =>
      res
        .writeHead(status, { 'content-type': 'application/json', 'mcp-session-id': `${session}` })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, ...answer }));
    if (req.method !== 'POST') return void res.writeHead(405).end();
    if (message.method === 'server/discover')
      return json(400, { error: { code: -32000, message: 'Not here.' } });
    if (message.method === 'initialize') {
      if (!state.begins) return;
      session += 1;
      return json(200, {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'silent', version: '1' },
        },
      });
    }
    if (!state.begins || req.headers['mcp-session-id'] !== `${session}`)
      return json(404, { error: { code: -32001, message: 'Session not found' } });
    if (message.id === undefined) return void res.writeHead(202).end();
    json(200, { result: { content: [] } });
  });
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

async function callNewer(slug: string) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const answer = await fetch(lab.urls(slug)[0] as string, {
    method: 'POST',
    headers: {
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'x',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'x', _meta },
    }),
  });
  const { error } = (await answer.json()) as { error?: { code: number; message: string } };
  return { status: answer.status, error };
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const json =
  (body: (id: unknown) => unknown, status = 200): Answer =>
  (res, id) => {
    const sent = body(id);
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(typeof sent === 'string' ? sent : JSON.stringify(sent));
  };
const stream =
  (body: (id: unknown) => string, isCut = false): Answer =>
  (res, id) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(body(id));
    if (isCut) setTimeout(() => res.socket?.resetAndDestroy(), 20);
    else res.end();
  };

const good = (id: unknown) => ({ jsonrpc: '2.0', id, result: { tools: [] } });

/** What clients saw, to be held against the records. */
const seenCodes = new Map<string, number>();

describe('a server that answers', () => {
  it.each<[string, Answer, number]>([
    [
      'with a page',
      (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      -32603,
    ],
    ['with another id', json(() => good(77)), -32603],
    ['with no result', json((id) => ({ jsonrpc: '2.0', id })), -32603],
    ['with a batch', json((id) => [good(id)]), -32603],
    ['with no list', json((id) => ({ jsonrpc: '2.0', id, result: { tools: 7 } })), -32603],
    ['with 500', json(() => 'no', 500), -32603],
    ['with 401 in the middle', json(() => 'log in', 401), -32603],
    [
      'with a way to elsewhere',
      (res) => res.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
      -32603,
    ],
    [
      'with an error of its own',
      json((id) => ({ jsonrpc: '2.0', id, error: { code: -32042, message: 'log in' } })),
      -32042,
    ],
    [
      'with half an event',
      stream((id) => `data: ${JSON.stringify(good(id)).slice(0, 20)}`),
      -32603,
    ],
    ['with an event that is none', stream(() => 'data: {"half\n\n'), -32603],
    ['with a stream without the answer', stream(() => ': nothing\n\n'), -32603],
    ['with a stream that is cut', stream(() => ': soon\n\n', true), -32603],
    ['by a reset', (res) => res.socket?.resetAndDestroy(), -32603],
    [
      'with 100,000 tools',
      json((id) => ({
        jsonrpc: '2.0',
        id,
        result: {
          tools: Array.from({ length: 100_000 }, (_, at) => ({ name: `t${at}`, inputSchema: {} })),
        },
      })),
      -32603,
    ],
    ['not at all', () => {}, -32001],
  ])('%s is one clear error, and the session lives', async (_, answer, code) => {
    const trace = randomUUID();
    const headers = { 'x-service-trace-id': trace };
    const { client } = await lab.connect(oddServer.slug, { headers });
    odd.answers(answer);
    await expect(client.listTools(undefined, { timeout: 8000 })).rejects.toMatchObject({ code });
    odd.answers(json(good));
    expect(await client.listTools()).toEqual({ tools: [] });
    await client.close();
    seenCodes.set(trace, code);
  });

  it('proof 10: leaves a record of each, that says what its client saw', async () => {
    const query = new URLSearchParams({
      time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 3_600_000).toISOString(),
      workspace_slug: lab.scenario.stack.credentials.workspace_id,
      mode: 'mcp:tool_list',
      page_size: '1000',
    });
    await eventually(async () => {
      const { data } = await lab.scenario.admin<{
        data: { metrics: { trace_id: string; is_success: boolean }; error?: { code: string } }[];
      }>('GET', `/logs?${query}`);
      // A case that failed at its first go has left records as well.
      const ofPassed = data.filter(({ metrics }) => seenCodes.has(metrics.trace_id));
      const failed = ofPassed.filter(({ metrics }) => !metrics.is_success);
      expect(failed.map(({ error }) => error?.code).toSorted()).toEqual(
        [...seenCodes.values()].map((code) => `mcp.${code}`).toSorted(),
      );
      expect(ofPassed.length - failed.length).toBe(seenCodes.size);
    });
  });

  it('with a message cut anywhere is understood', async () => {
    const { client } = await lab.connect(oddServer.slug);
    odd.answers((res, id) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(
        `id: 1\r\ndata: ${JSON.stringify({ ...good(id), result: { tools: [], _meta: { ü: '€' } } })}\r\n\r\n`,
      );
      let at = 0;
      const next = () => {
        if (at >= bytes.length) return res.end();
        res.write(bytes.subarray(at, at + 3));
        at += 3;
        setImmediate(next);
      };
      next();
    });
    expect(await client.listTools()).toEqual({ tools: [], _meta: { ü: '€' } });
    await client.close();
  });
});

describe('a client that probes for an era', () => {
  it('M9: takes neither silence nor a refusal for an answer, and falls back to nothing', async () => {
    const { slug } = await lab.save({ url: odd.url });
    const connect = async (key: string) => {
      const client = new ModernClient(
        { name: 'stranger', version: '2' },
        { versionNegotiation: { mode: 'auto' } },
      );
      const url = new URL(lab.urls(slug)[0] as string);
      const requestInit = { headers: { 'x-service-api-key': key } };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    };
    const before = odd.told.length;
    await expect(connect('nobody')).rejects.toThrow(/401|unauthori/i);
    expect(odd.told.length).toBe(before);
    odd.answers(() => {});
    await expect(connect(lab.scenario.stack.credentials.workspace_key)).rejects.toThrow();
    expect(odd.told.slice(before)).toEqual(['server/discover']);
  });
});

describe('a call', () => {
  it('M25: that takes too long is ended here and there; one that tells of progress goes on', async () => {
    const { client } = await lab.connect(server.slug);
    const seen = upstream.requests.length;
    const startedAt = performance.now();
    await expect(
      client.callTool({ name: 'slow', arguments: { ms: 30_000 } }),
    ).rejects.toMatchObject({
      code: -32001,
    });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await eventually(() =>
      expect(upstream.requests.slice(seen).map(({ body }) => body?.method)).toContain(
        'notifications/cancelled',
      ),
    );
    const steps: number[] = [];
    const slow = await client.callTool(
      { name: 'progress', arguments: { steps: 5, ms: timeoutMs * 0.5 } },
      undefined,
      { onprogress: ({ progress }) => steps.push(progress) },
    );
    expect(slow.isError).not.toBe(true);
    expect(steps).toEqual([1, 2, 3, 4, 5]);
    await client.close();
  });

  it('that waits for a person waits longer', async () => {
    const { client } = await lab.connect(server.slug, {
      capabilities: { elicitation: {} },
      prepare: (client) =>
        client.setRequestHandler(ElicitRequestSchema, async () => {
          await delay(timeoutMs * 2);
          return { action: 'accept' as const, content: { name: 'Ada' } };
        }),
    });
    const said = await client.callTool({ name: 'ask' });
    expect(JSON.stringify(said.content)).toContain('Ada');
    await client.close();
  });

  it('M5: that is broken off in its stream is told to its end, once', async () => {
    const { client, transport } = await lab.connect(server.slug);
    const session = transport.sessionId ?? '';
    const headers = {
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      'mcp-session-id': session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const url = lab.urls(server.slug)[0] as string;
    const abort = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      headers,
      signal: abort.signal,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 'broken',
        method: 'tools/call',
        params: {
          name: 'progress',
          arguments: { steps: 6, ms: 60 },
          _meta: { progressToken: 'p' },
        },
      }),
    });
    let text = '';
    const reader = response.body?.getReader();
    while (!text.includes('"progress":2')) {
      const piece = await reader?.read();
      text += Buffer.from(piece?.value ?? []).toString();
    }
    const lastEventId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
    abort.abort();
    await client.close();
    let rest = '';
    await eventually(async () => {
      const again = await fetch(url, {
        headers: { ...headers, 'last-event-id': lastEventId },
        signal: AbortSignal.timeout(3000),
      });
      expect(again.status).toBe(200);
      rest = '';
      try {
        for await (const piece of again.body ?? []) {
          rest += Buffer.from(piece).toString();
          if (rest.includes('"id":"broken"')) break;
        }
      } catch {
        // It stays open: what was told so far counts.
      }
      expect(rest).toContain('"id":"broken"');
    });
    const steps = [...`${text}${rest}`.matchAll(/"progress":(\d)/g)].map(([, step]) =>
      Number(step),
    );
    expect([...new Set(steps)]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rest.match(/"progress":2/g)).toBe(null);
  });

  it('for the stream of a session that is left while its server is reached again frees that stream', async () => {
    let opening = Promise.resolve();
    const log: FixtureLog = { writes: 0, cancelled: 0 };
    const sse = await startSseUpstream(
      () => fixtureServer(log),
      () => opening,
    );
    const { slug } = await lab.save({ url: sse.url, transport: 'sse' });
    const url = lab.urls(slug)[0] as string;
    const headers = { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key };
    const begun = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'raw', version: '1' },
        },
      }),
    });
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const listen = (signal: AbortSignal) =>
      fetch(url, { headers: { ...headers, ...session, accept: 'text/event-stream' }, signal });
    const held = Promise.withResolvers<void>();
    opening = held.promise;
    sse.forget();
    // The gateway hears a moment later that the one before is gone.
    await eventually(() => expect(listen(AbortSignal.timeout(400))).rejects.toThrow());
    held.resolve();
    await eventually(() => expect(sse.sessions.size).toBe(1));
    await eventually(async () => {
      const abort = new AbortController();
      const { status } = await listen(abort.signal);
      abort.abort();
      expect(status).toBe(200);
    });
    await sse.close();
  });

  it.each(['http', 'sse'] as const)(
    'of a newer era for whom no session is begun is told in time (%s)',
    async (transport) => {
      const silent = await startSilent();
      const { slug, integrationId } = await lab.save({ url: silent.url, transport });
      const ask = async () => {
        const startedAt = performance.now();
        const { status, error } = await callNewer(slug);
        return { status, error, ms: performance.now() - startedAt };
      };
      // Who comes later waits for the same session, whose time is over before his own.
      const joining = delay(timeoutMs / 2).then(ask);
      for (const late of await Promise.all([ask(), joining]))
        expect([late.status, late.error?.code]).toEqual([200, -32001]);
      await lab.scenario.admin('PUT', `/mcp-integrations/${integrationId}`, {
        policy: { request_timeout: 300 },
      });
      const hurried = await ask();
      expect([hurried.status, hurried.error?.code]).toEqual([200, -32001]);
      expect(hurried.ms).toBeLessThan(timeoutMs);
      await silent.close();
    },
  );

  it('whose session its server forgot, and who begins no other, is told in time', async () => {
    const silent = await startSilent();
    silent.begins = true;
    const { slug } = await lab.save({ url: silent.url });
    const { client } = await lab.connect(slug);
    silent.begins = false;
    await expect(client.callTool({ name: 'x' })).rejects.toMatchObject({ code: -32001 });
    silent.begins = true;
    expect(await client.callTool({ name: 'x' })).toMatchObject({ content: [] });
    await client.close();
    await silent.close();
  });

  it('of whom a server is closed to is refused from then on', async () => {
    const key = await lab.newKey();
    const { client } = await lab.connect(server.slug, { key });
    await client.listTools();
    await lab.scenario.admin('PUT', `/mcp-servers/${server.id}/user-access`, {
      default_user_access: 'deny',
      user_access: [],
    });
    await expect(client.listTools()).rejects.toThrow(/403|access/);
    await lab.scenario.admin('PUT', `/mcp-servers/${server.id}/user-access`, {
      default_user_access: 'allow',
      user_access: [],
    });
    await client.listTools();
    await client.close();
  });
});
