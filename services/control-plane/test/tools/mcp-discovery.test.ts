import { pinOf } from '@sluice/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import { holdsInClear } from '../support/holds-in-clear.ts';
import {
  type LocalServer,
  listenLocally,
  type Offered,
  startMcpServer,
  startSseServer,
} from '../support/mcp-upstream.ts';

let h: Harness;
const servers: LocalServer[] = [];
beforeAll(async () => {
  h = await startHarness();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await h.stop();
});

const admin = () => h.as(h.first.admin_key);

async function upstream(start: Promise<LocalServer>): Promise<LocalServer> {
  const server = await start;
  servers.push(server);
  return server;
}

async function integrate(url: string, change: object = {}): Promise<string> {
  const answer = await admin().post('/mcp-integrations', {
    name: 'Calculator',
    url,
    auth_type: 'headers',
    transport: 'http',
    ...change,
  });
  expect(answer.status, answer.text).toBe(200);
  return `/mcp-integrations/${answer.body.id}`;
}

const test = async (one: string) => (await admin().post(`${one}/test`).expect(200)).body;
const metadata = async (one: string) => (await admin().get(`${one}/metadata`)).body;
const capabilities = async (one: string, query = '') =>
  (await admin().get(`${one}/capabilities?${query}`).expect(200)).body;
const names = (list: { data: { type: string; name: string }[] }) =>
  list.data.map(({ type, name }) => `${type} ${name}`);

/** Answers JSON-RPC by method; a method it does not know is an error. */
function jsonRpc(results: Record<string, unknown>, contentType = 'application/json') {
  return listenLocally((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      if (id === undefined) return res.writeHead(202).end();
      const result = results[method];
      res.writeHead(200, { 'content-type': contentType });
      res.end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          ...(result === undefined
            ? { error: { code: -32601, message: 'secret of the server' } }
            : { result }),
        }),
      );
    });
  });
}

const hello = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'made-up', version: '1' },
};

describe('POST /mcp-integrations/{id}/test', () => {
  it.each([
    ['event streams and sessions', {}],
    ['plain JSON, without sessions', { plain: true }],
  ] as [string, Offered][])(
    'learns from a server of %s what it is and offers',
    async (_, offered) => {
      const server = await upstream(startMcpServer(offered));
      const one = await integrate(`${server.url}/mcp`, {
        configurations: { custom_headers: { 'X-Secret': 'header-of-the-admin' } },
      });
      expect(await metadata(one)).toEqual({
        server_name: null,
        server_version: null,
        protocol_version: null,
        capability_flags: null,
        sync_status: 'pending',
        last_synced_at: null,
        sync_error: null,
      });
      expect(await test(one)).toEqual({
        success: true,
        status_code: 200,
        response_time_ms: expect.any(Number),
        url: `${server.url}/mcp`,
        server_name: 'The Calculator',
        error: null,
      });
      expect(server.seen.every((req) => req.headers['x-secret'] === 'header-of-the-admin')).toBe(
        true,
      );
      expect(await metadata(one)).toMatchObject({
        server_name: 'The Calculator',
        server_version: '3.1.4',
        protocol_version: '2025-11-25',
        capability_flags: { tools: {}, prompts: {}, resources: {} },
        sync_status: 'synced',
        last_synced_at: expect.any(String),
        sync_error: null,
      });
      const all = await capabilities(one);
      expect(names(all)).toEqual([
        'prompt greet',
        'resource file:///two',
        'resource notes',
        'resource_template user',
        'tool add',
        'tool delete_all',
      ]);
      expect(all.counts).toEqual({
        tools: { total: 2, enabled: 2 },
        prompts: { total: 1, enabled: 1 },
        resources: { total: 2, enabled: 2 },
        resource_templates: { total: 1, enabled: 1 },
      });
      expect(all.data[0].arguments).toEqual([{ name: 'who', required: true }]);
      expect(all.data[1]).toMatchObject({ uri: 'file:///two', mime_type: 'text/plain' });
      expect(all.data[3]).toMatchObject({ uri_template: 'users://{id}', uri: null });
      expect(all.data[4]).toMatchObject({
        title: 'Does add',
        description: 'A tool.',
        input_schema: { type: 'object', required: ['a'] },
        output_schema: null,
      });
      if (!offered.plain) expect(server.seen.at(-1)?.method).toBe('DELETE');
    },
  );

  it('keeps what was switched off: tools that are gone, or come back', async () => {
    const offered = { tools: ['add', 'delete_all', 'old'] };
    const one = await integrate((await upstream(startMcpServer(offered))).url);
    await test(one);
    const off = { type: 'tool', name: 'delete_all', enabled: false };
    await admin()
      .put(`${one}/capabilities`, { capabilities: [off] })
      .expect(200);
    offered.tools = ['add', 'new'];
    await test(one);
    const tools = async () =>
      Object.fromEntries(
        (await capabilities(one, 'type=tool')).data.map(
          (row: { name: string; enabled: boolean }) => [row.name, row.enabled],
        ),
      );
    expect(await tools()).toEqual({ add: true, delete_all: false, new: true });
    offered.tools = ['add', 'delete_all'];
    await test(one);
    expect(await tools()).toEqual({ add: true, delete_all: false });
  });

  it('reads every page of a list, and leaves out what has no name', async () => {
    let asked = 0;
    const page = () => {
      asked += 1;
      return {
        tools: [{ name: `tool-${asked}` }, { title: 'nameless' }, 'text', null],
        nextCursor: asked % 3 === 0 ? undefined : `page-${asked}`,
      };
    };
    const results = {
      initialize: hello,
      get 'tools/list'() {
        return page();
      },
    };
    const one = await integrate((await upstream(jsonRpc(results))).url);
    expect(await test(one)).toMatchObject({ success: true, server_name: 'made-up' });
    expect(names(await capabilities(one))).toEqual(['tool tool-1', 'tool tool-2', 'tool tool-3']);
  });

  const html = '<h1>secret of the server</h1>';
  it.each<[string, Promise<LocalServer> | (() => Promise<LocalServer>), RegExp, number | null]>([
    [
      'wants another credential',
      () =>
        listenLocally((_, res) => res.writeHead(401, { 'x-a': 'secret of the server' }).end(html)),
      /status 401/,
      401,
    ],
    [
      'sends callers elsewhere',
      () => listenLocally((_, res) => res.writeHead(302, { location: 'http://10.0.0.1' }).end()),
      /status 302/,
      302,
    ],
    ['answers with a page', () => listenLocally((_, res) => res.end(html)), /no JSON/, null],
    ['refuses', () => jsonRpc({}), /the error -32601/, null],
    ['breaks off', () => listenLocally((req) => req.socket.destroy()), /broke/, null],
    [
      'sends too much',
      () => listenLocally((_, res) => res.end(Buffer.alloc(5 * 1024 * 1024, 'x'))),
      /more than is read/,
      null,
    ],
    [
      'sends what no row can hold',
      () => jsonRpc({ initialize: hello, 'tools/list': { tools: [{ name: 'a\u0000b' }] } }),
      /cannot be stored/,
      null,
    ],
    [
      'nests without end',
      () => listenLocally((_, res) => res.end('['.repeat(100_000))),
      /no JSON/,
      null,
    ],
  ])(
    'says so in a 200 when the server %s, and repeats nothing of it',
    async (_, start, error, status) => {
      const server = await upstream(typeof start === 'function' ? start() : start);
      const one = await integrate(server.url);
      const answer = await test(one);
      expect(answer).toMatchObject({
        success: false,
        status_code: status,
        server_name: 'Calculator',
      });
      expect(answer.error).toMatch(error);
      expect(JSON.stringify(answer)).not.toContain('secret of the server');
      expect(await metadata(one)).toMatchObject({
        sync_status: 'failed',
        sync_error: answer.error,
        last_synced_at: null,
      });
      expect(await holdsInClear(h, ['mcp_integrations', 'audit_entries'], 'secret of')).toBe(false);
    },
  );

  it('says so when nobody listens, and does not call addresses that became private', async () => {
    const gone = await listenLocally(() => undefined);
    const one = await integrate(gone.url);
    await gone.close();
    expect(await test(one)).toMatchObject({
      success: false,
      error: expect.stringMatching(/reached/),
    });
    await h.db.mcpIntegration.update({
      where: { id: one.split('/').at(-1) ?? '' },
      data: { url: 'http://169.254.169.254/latest' },
    });
    expect(await test(one)).toMatchObject({
      success: false,
      error: expect.stringMatching(/not allowed/),
    });
  });

  it('keeps no description that is beyond measure', async () => {
    const tools = [{ name: 'wordy', description: 'x'.repeat(70_000) }, { name: 'terse' }];
    const server = await upstream(jsonRpc({ initialize: hello, 'tools/list': { tools } }));
    const one = await integrate(server.url);
    expect(await test(one)).toMatchObject({ success: true });
    expect((await capabilities(one)).data).toMatchObject([
      { name: 'terse', description: null },
      { name: 'wordy', description: null, enabled: true },
    ]);
  });

  it('learns the same from a server of HTTP with server-sent events', async () => {
    const server = await upstream(startSseServer());
    const one = await integrate(`${server.url}/sse`, { transport: 'sse' });
    expect(await test(one)).toMatchObject({ success: true, server_name: 'The Calculator' });
    expect((await capabilities(one)).counts).toMatchObject({
      tools: { total: 2, enabled: 2 },
      resources: { total: 2, enabled: 2 },
    });
    // A server of the other transport says nothing there.
    const other = await integrate((await upstream(startMcpServer())).url, { transport: 'sse' });
    expect(await test(other)).toMatchObject({ success: false });
  });

  it('learns the same from a server without sessions, of 2026-07-28', async () => {
    const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const identity = { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '2' } };
    const results = {
      'server/discover': {
        ...cached,
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        _meta: identity,
      },
      'tools/list': { ...cached, tools: [{ name: 'add', inputSchema: { type: 'object' } }] },
    };
    const one = await integrate((await upstream(jsonRpc(results))).url);
    expect(await test(one)).toMatchObject({ success: true, server_name: 'modern' });
    expect(await metadata(one)).toMatchObject({ protocol_version: '2026-07-28' });
    expect(names(await capabilities(one))).toEqual(['tool add']);
  });

  it('pins what it found by its whole definition, members that nobody knows among it', async () => {
    const definition = {
      name: 'add',
      inputSchema: { type: 'object' },
      'x-unknown': { kept: [1, 2] },
    };
    const tools = [definition];
    const results = { initialize: hello, 'tools/list': { tools } };
    const one = await integrate((await upstream(jsonRpc(results))).url, { on_drift: 'block' });
    await test(one);
    const pins = async () => (await admin().get(`${one}/pins`).expect(200)).body.data;
    expect(await pins()).toMatchObject([
      {
        name: 'add',
        state: 'approved',
        pinned_hash: pinOf(definition),
        seen_definition: definition,
      },
    ]);
    definition['x-unknown'].kept.push(3);
    tools.push({ ...definition, name: 'later' });
    await test(one);
    expect(await pins()).toMatchObject([
      {
        name: 'add',
        state: 'drifted',
        difference: [{ path: 'x-unknown.kept.2', before: null, after: 3 }],
      },
      { name: 'later', state: 'new' },
    ]);
  });

  it('waits for no stream that never ends, and reads no event that would cost too much', async () => {
    const endless = await upstream(
      listenLocally((_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => res.write('data: '.padEnd(256 * 1024, 'x')), 1);
        res.on('close', () => clearInterval(timer));
      }),
    );
    const one = await integrate(endless.url);
    expect(await test(one)).toMatchObject({
      success: false,
      error: expect.stringMatching(/more than/),
    });
    const deep = await upstream(
      listenLocally((_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end(`data: ${'['.repeat(100_000)}\n\n`);
      }),
    );
    expect(await test(await integrate(deep.url))).toMatchObject({ success: false });
  });

  it('forgets that it asked when the address changes', async () => {
    const one = await integrate((await upstream(startMcpServer())).url);
    await test(one);
    await admin().put(one, { url: 'https://elsewhere.example.org/mcp' }).expect(200);
    expect(await metadata(one)).toMatchObject({ sync_status: 'pending' });
  });

  it('is written to the audit log with its outcome', async () => {
    const gone = await listenLocally(() => undefined);
    await gone.close();
    const one = await integrate(gone.url, { slug: 'nobody-there' });
    await test(one);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceId: one.split('/').at(-1) ?? '' },
      orderBy: { sequence: 'desc' },
    });
    expect([entry.resourceType, entry.action]).toEqual(['mcp_integrations', 'manage']);
    expect(JSON.parse(entry.detail ?? '')).toEqual({ slug: 'nobody-there', success: false });
  });
});

describe('the capabilities of an MCP integration', () => {
  it('come in pages from one, with the counts of all of them', async () => {
    const one = await integrate((await upstream(startMcpServer())).url);
    await test(one);
    const first = await capabilities(one, 'page_size=4');
    expect(first).toMatchObject({ total: 6, has_more: true });
    const second = await capabilities(one, 'page_size=4&page=2');
    expect(second).toMatchObject({ total: 6, has_more: false, counts: first.counts });
    expect([...names(first), ...names(second)]).toEqual(names(await capabilities(one)));
    const tools = await capabilities(one, 'type=tool');
    expect(tools).toMatchObject({ total: 2, counts: first.counts });
    for (const query of ['page=0', 'page_size=0', 'page_size=501', 'type=person'])
      await admin().get(`${one}/capabilities?${query}`).expect(400);
  });

  it('can be closed before anybody has seen them; the last word counts', async () => {
    const one = await integrate((await upstream(startMcpServer())).url);
    const answer = await admin().put(`${one}/capabilities`, {
      capabilities: [
        { type: 'tool', name: 'add', enabled: false },
        { type: 'tool', name: 'delete_all', enabled: true },
        { type: 'tool', name: 'delete_all', enabled: false },
        { type: 'resource_template', name: 'user', enabled: false },
      ],
    });
    expect(answer.body).toEqual({ success: true });
    await test(one);
    expect((await capabilities(one)).counts).toMatchObject({
      tools: { total: 2, enabled: 0 },
      resources: { total: 2, enabled: 2 },
      resource_templates: { total: 1, enabled: 0 },
    });
    await admin()
      .put(`${one}/capabilities`, {
        capabilities: [{ type: 'tool', name: 'add', enabled: true }],
      })
      .expect(200);
    expect((await capabilities(one)).counts.tools).toEqual({ total: 2, enabled: 1 });
    await admin().put(`${one}/capabilities`, { capabilities: [] }).expect(200);
  });
});
