import { request } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream, startSseUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { size, tell } from './proof-form.ts';
import { type Body, startScriptedModel } from './scripted-model.ts';

/** Clients and servers of the older era, through two gateways in turn that share a Redis. */
let lab: McpLab;
let upstream: LegacyUpstream;
let jsonUpstream: LegacyUpstream;
let server: SavedServer;
let jsonServer: SavedServer;
let sseUpstream: Awaited<ReturnType<typeof startSseUpstream>>;
let sseServer: SavedServer;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  const makeServer = () => fixtureServer(log);
  [lab, upstream, jsonUpstream, sseUpstream] = await Promise.all([
    startMcpLab({ gateways: size(2, 3), redis: true }),
    startLegacyUpstream({ makeServer }),
    startLegacyUpstream({ makeServer, json: true, unknownStatus: 400 }),
    startSseUpstream(makeServer),
  ]);
  server = await lab.save({ url: upstream.url });
  jsonServer = await lab.save({ url: jsonUpstream.url });
  sseServer = await lab.save({ url: sseUpstream.url, transport: 'sse' });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
  await jsonUpstream?.close();
  await sseUpstream?.close();
});

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

async function direct(): Promise<Client> {
  const client = new Client({ name: 'stranger', version: '1' }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream.url)));
  return client;
}

/** What a client can find out about a server. */
async function survey(client: Client) {
  const tools = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  return {
    pages,
    tools,
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    echo: await client.callTool({ name: 'echo', arguments: { a: [1, { b: 'ü' }] } }),
    failed: await client.callTool({ name: 'fails' }),
    resources: await client.listResources(),
    templates: await client.listResourceTemplates(),
    read: await client.readResource({ uri: 'test://one' }),
    prompts: await client.listPrompts(),
    prompt: await client.getPrompt({ name: 'greet', arguments: { who: 'you' } }),
    completion: await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'y' },
    }),
  };
}

describe('a client of the older era', () => {
  it('M1: sees all that it sees without the gateway, streamed or not', async () => {
    const without = await direct();
    const expected = await survey(without);
    await without.close();
    expect(expected.pages).toBe(3);
    // Prompts are switched here, whatever their server tells of.
    const { capabilities } = expected;
    const seen = { ...expected, capabilities: { ...capabilities, prompts: { listChanged: true } } };
    for (const { slug } of [server, jsonServer, sseServer]) {
      const { client } = await lab.connect(slug);
      expect(await survey(client)).toEqual(seen);
      await client.ping();
      await client.close();
    }
  });

  it('M2: hears progress in order, log messages and changes', async () => {
    const told: string[] = [];
    const { client } = await lab.connect(server.slug, {
      prepare(client) {
        client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
          told.push(String(params.data));
        });
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
          told.push('tools');
        });
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
          told.push(params.uri);
        });
      },
    });
    const steps: [string, number][] = [];
    const call = (name: string) =>
      client.callTool({ name: 'progress', arguments: { steps: 3, ms: 5 } }, undefined, {
        onprogress: ({ progress }) => steps.push([name, progress]),
      });
    await Promise.all([call('a'), call('b')]);
    for (const name of ['a', 'b'])
      expect(steps.filter(([of]) => of === name).map(([, step]) => step)).toEqual([1, 2, 3]);
    expect(told.filter((line) => line === 'step 1')).toHaveLength(2);
    await client.subscribeResource({ uri: 'test://one' });
    await client.callTool({ name: 'announce' });
    // Told on two ways, by the server and by the gateway as well, which looks at the tools anew: that each comes is promised, and no
    // order between them (docs/mcp.md).
    await eventually(() => expect(told).toEqual(expect.arrayContaining(['tools', 'test://one'])));
    await client.close();
  });

  it('M3: ends a call that it does not wait for', async () => {
    const { client } = await lab.connect(server.slug);
    const before = log.cancelled;
    const abort = new AbortController();
    const seen = upstream.requests.length;
    const call = client.callTool({ name: 'slow' }, undefined, { signal: abort.signal });
    await eventually(() => {
      const names = upstream.requests.slice(seen).map(({ body }) => body?.params?.name);
      expect(names).toContain('slow');
    });
    abort.abort('enough');
    await expect(call).rejects.toThrow();
    await eventually(() => expect(log.cancelled).toBe(before + 1));
    expect(upstream.requests.map(({ body }) => body?.method)).toContain('notifications/cancelled');
    expect(textOf(await client.callTool({ name: 'echo', arguments: {} }))).toBe('{}');
    await client.close();
  });

  it.each([
    ['Streamable HTTP', () => server],
    ['HTTP+SSE', () => sseServer],
  ])('M4: answers what the server asks of it, and of nobody else (%s)', async (_, of) => {
    const clients = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        lab.connect(of().slug, {
          capabilities: { sampling: {}, elicitation: {}, roots: {} },
          prepare(client) {
            client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
              const [asked] = params.messages;
              return {
                model: 'm',
                role: 'assistant' as const,
                content: {
                  type: 'text' as const,
                  text: `${name}:${JSON.stringify(asked?.content)}`,
                },
              };
            });
            client.setRequestHandler(ElicitRequestSchema, () => ({
              action: 'accept' as const,
              content: { name },
            }));
            client.setRequestHandler(ListRootsRequestSchema, () => ({
              roots: [{ uri: `file:///${name}` }],
            }));
          },
        }),
      ),
    );
    await Promise.all(
      clients.map(async ({ client }, index) => {
        const name = ['one', 'two', 'three'][index] as string;
        const sampled = await client.callTool({ name: 'sample', arguments: { say: name } });
        expect(textOf(sampled)).toContain(`${name}:`);
        expect(textOf(await client.callTool({ name: 'ask' }))).toContain(`"${name}"`);
        expect(textOf(await client.callTool({ name: 'roots' }))).toContain(`file:///${name}`);
        await client.close();
      }),
    );
  });

  it.each([
    ['Streamable HTTP', () => server],
    ['HTTP+SSE', () => sseServer],
  ])('proof 4: answers at another gateway than the one whose stream asked (%s)', async (_, of) => {
    const [asks = '', ...others] = lab.urls(of().slug);
    const went = { calls: 0, answers: 0 };
    const client = new Client(
      { name: 'stranger', version: '1' },
      { capabilities: { sampling: {} } },
    );
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'from elsewhere' },
    }));
    await client.connect(
      new StreamableHTTPClientTransport(new URL(asks), {
        fetch: (_url, init) => {
          const sent = JSON.parse(String(init?.body ?? '{}')) as {
            method?: string;
            result?: object;
          };
          if (sent.result === undefined) {
            went.calls += sent.method === 'tools/call' ? 1 : 0;
            return fetch(asks, init);
          }
          return fetch(others[went.answers++ % others.length] as string, init);
        },
        requestInit: {
          headers: { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key },
        },
      }),
    );
    for (let time = 0; time < size(2, 100); time++)
      expect(textOf(await client.callTool({ name: 'sample', arguments: { say: 'x' } }))).toContain(
        'from elsewhere',
      );
    expect(went).toEqual({ calls: size(2, 100), answers: size(2, 100) });
    await client.close();
  });

  it('M6: ends its session, which is nowhere afterwards', async () => {
    const { client, transport } = await lab.connect(server.slug);
    const id = transport.sessionId ?? '';
    await transport.terminateSession();
    await client.close();
    for (const url of lab.urls(server.slug)) {
      const response = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, id);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: -32001 } });
    }
  });

  it('M20: hears progress of a server of HTTP+SSE, ends its session, and goes on after a restart', async () => {
    const { client, transport } = await lab.connect(sseServer.slug);
    const steps: number[] = [];
    await client.callTool({ name: 'progress', arguments: { steps: 3, ms: 200 } }, undefined, {
      onprogress: ({ progress }) => steps.push(progress),
    });
    expect(steps).toEqual([1, 2, 3]);
    const before = sseUpstream.sessions.size;
    sseUpstream.forget();
    for (const say of ['a', 'b'])
      expect(textOf(await client.callTool({ name: 'echo', arguments: { say } }))).toContain(say);
    expect(sseUpstream.sessions.size).toBeLessThanOrEqual(before);
    const id = transport.sessionId ?? '';
    await transport.terminateSession();
    await client.close();
    for (const url of lab.urls(sseServer.slug)) {
      const response = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, id);
      expect(response.status).toBe(404);
      await response.text();
    }
  });

  it('M22: goes on when the server forgot its session, and nothing is written twice', async () => {
    for (const [of, { slug }] of [
      [upstream, server],
      [jsonUpstream, jsonServer],
    ] as const) {
      const { client } = await lab.connect(slug);
      const before = log.writes;
      await client.callTool({ name: 'write' });
      of.forget();
      await Promise.all([1, 2, 3].map(() => client.callTool({ name: 'write' })));
      expect(log.writes).toBe(before + 4);
      of.forget();
      expect(textOf(await client.callTool({ name: 'echo', arguments: {} }))).toBe('{}');
      await client.close();
    }
  });
});

const begin = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
};

describe('what strangers send', () => {
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const at = (slug: string) => lab.urls(slug)[0] as string;
  async function newSession(key?: string): Promise<string> {
    const headers = key === undefined ? {} : { 'x-service-api-key': key };
    const response = await post(at(server.slug), begin, undefined, headers);
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  }

  it('M7: gets exactly the status that clients act on', async () => {
    const session = await newSession();
    const foreign = await newSession(await lab.newKey());
    const cases: [string, number, number | undefined, Response][] = [
      ['no session', 400, -32000, await post(at(server.slug), list)],
      ['an unknown one', 404, -32001, await post(at(server.slug), list, 'nobody')],
      ['one of another key', 404, -32001, await post(at(server.slug), list, foreign)],
      ['one of another server', 404, -32001, await post(at(jsonServer.slug), list, session)],
      [
        'a changed one',
        404,
        -32001,
        await post(
          at(server.slug),
          list,
          session.slice(0, -2) + (session.endsWith('AA') ? 'BB' : 'AA'),
        ),
      ],
      [
        'an unknown version',
        400,
        -32600,
        await post(at(server.slug), list, session, { 'mcp-protocol-version': '1999-01-01' }),
      ],
      [
        'an answer that is not taken',
        406,
        -32000,
        await post(at(server.slug), list, session, { accept: 'application/json' }),
      ],
      [
        'another type',
        415,
        -32000,
        await post(at(server.slug), list, session, { 'content-type': 'text/plain' }),
      ],
      ['a batch', 400, -32600, await post(at(server.slug), [list], session)],
      ['half a message', 400, -32700, await post(at(server.slug), '{"jsonrpc":"2.0",', session)],
      ['no message', 400, -32600, await post(at(server.slug), { id: 1 }, session)],
      [
        'neither id nor method',
        400,
        -32600,
        await post(at(server.slug), { jsonrpc: '2.0', params: {} }, session),
      ],
      [
        'an error that answers nothing',
        400,
        -32600,
        await post(
          at(server.slug),
          { jsonrpc: '2.0', error: { code: -32603, message: 'no' } },
          session,
        ),
      ],
      [
        'what is too deep',
        400,
        -32600,
        await post(at(server.slug), `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`, session),
      ],
      [
        'what is too large',
        413,
        -32600,
        await post(
          at(server.slug),
          JSON.stringify({ ...list, params: { a: 'x'.repeat(4_200_000) } }),
          session,
        ),
      ],
      ['another server', 404, undefined, await post(at('nothing-here'), list, session)],
      [
        'another workspace',
        403,
        undefined,
        await post(at(server.slug).replace('/server-', '/elsewhere/server-'), list, session),
      ],
      [
        'no scope',
        403,
        undefined,
        await post(at(server.slug), begin, undefined, {
          'x-service-api-key': await lab.newKey(['completions.write']),
        }),
      ],
      [
        'another page',
        403,
        undefined,
        await post(at(server.slug), list, session, { origin: 'https://evil.example' }),
      ],
      [
        'a notification',
        202,
        undefined,
        await post(
          at(server.slug),
          { jsonrpc: '2.0', method: 'notifications/initialized' },
          session,
        ),
      ],
    ];
    const told = await Promise.all(
      cases.map(async ([name, , , response]) => {
        const text = await response.text();
        const body = text === '' ? {} : (JSON.parse(text) as { error?: { code?: number } });
        return [name, response.status, body.error?.code];
      }),
    );
    expect(told).toEqual(cases.map(([name, status, code]) => [name, status, code]));
  });

  it('is asked for a credential in words that its client understands', async () => {
    const url = at(server.slug);
    const response = await post(url, begin, undefined, { 'x-service-api-key': undefined });
    expect(response.status).toBe(401);
    const { origin, pathname } = new URL(url);
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource${pathname}", scope="mcp"`,
    );
    expect(await response.json()).toEqual({
      error: 'unauthorized',
      error_description: 'No service key was sent.',
    });
    const bearer = { authorization: `Bearer ${lab.scenario.stack.credentials.workspace_key}` };
    const letIn = await post(url, begin, undefined, { 'x-service-api-key': undefined, ...bearer });
    expect(letIn.status).toBe(200);
    await letIn.text();
  });

  it('names a host that is not ours on loopback, and is refused', async () => {
    const { hostname, port, pathname } = new URL(at(server.slug));
    const status = await new Promise((resolve, reject) => {
      const asking = request(
        { hostname, port, path: pathname, method: 'POST', headers: { host: 'evil.example' } },
        (response) => resolve(response.statusCode),
      );
      asking.on('error', reject);
      asking.end('{}');
    });
    expect(status).toBe(403);
  });

  it('is a page that may ask, and hears which headers it may send', async () => {
    const origin = 'http://localhost:6274';
    const asked = 'authorization, mcp-param-city, x-service-metadata, x-evil, cookie';
    const response = await fetch(at(server.slug), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': asked },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-allow-credentials')).toBe(null);
    const names = response.headers.get('access-control-allow-headers')?.split(', ') ?? [];
    expect(names).toEqual(
      expect.arrayContaining([
        'authorization',
        'mcp-session-id',
        'mcp-param-city',
        'x-service-metadata',
      ]),
    );
    expect(names).not.toContain('x-evil');
    expect(names).not.toContain('cookie');
    const foreign = await fetch(at(server.slug), {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
  });

  it('opens one stream of a session, not two', async () => {
    const session = await newSession();
    const open = (abort: AbortController) =>
      fetch(at(server.slug), {
        headers: {
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
          accept: 'text/event-stream',
          'mcp-session-id': session,
        },
        signal: abort.signal,
      });
    const first = new AbortController();
    expect((await open(first)).status).toBe(200);
    const second = await open(new AbortController());
    expect(second.status).toBe(409);
    await second.text();
    first.abort();
    const again = new AbortController();
    await eventually(async () => expect((await open(again)).status).toBe(200));
    again.abort();
  });

  it('M21: sends headers of their own in parallel, and nobody gets another’s', async () => {
    const forwarding = await lab.save({
      url: upstream.url,
      authType: 'headers',
      configurations: {
        custom_headers: { authorization: 'Bearer upstream', 'x-team': 'ours' },
        forward_headers: ['x-user', { from: 'x-place', to: 'x-from' }, 'cookie', 'authorization'],
      },
    });
    await Promise.all(
      ['a', 'b'].map(async (user) => {
        const { client } = await lab.connect(forwarding.slug, {
          headers: {
            'x-user': user,
            'x-place': `home-${user}`,
            'x-team': 'theirs',
            'x-other': 'stays',
            cookie: 'secret=1',
          },
        });
        await Promise.all(
          Array.from({ length: 25 }, async () => {
            const told = JSON.parse(textOf(await client.callTool({ name: 'headers' })));
            expect(told).toMatchObject({
              'x-user': user,
              'x-from': `home-${user}`,
              'x-team': 'ours',
              authorization: 'Bearer upstream',
            });
            for (const name of ['x-other', 'x-service-api-key', 'cookie', 'x-place'])
              expect(told).not.toHaveProperty(name);
          }),
        );
        await client.close();
      }),
    );
  });
});

describe('a model whose tools the gateway runs', () => {
  it('goes on at another gateway, behind calls of both sides and one to be approved', async () => {
    const model = await startScriptedModel();
    try {
      const name = 'of-both-sides';
      const calls = [{ name: 'get_weather' }, { name: 'echo', args: { b: 2 } }, { name: 'write' }];
      model.script(name, [{ calls }, { text: 'Sunny.' }]);
      const ask = async (gateway: number, more: object): Promise<Body> => {
        const tools = [
          {
            type: 'mcp',
            server_label: server.slug,
            require_approval: { never: { tool_names: ['echo'] } },
          },
          { type: 'function', name: 'get_weather', parameters: { type: 'object' } },
        ];
        const body = { model: name, tools, ...more };
        const host = `${model.url}/v1`;
        const answer = await lab.scenario.call('/v1/responses', { gateway, host, body });
        return (await answer.json()) as Body;
      };
      const before = log.writes;
      const first = await ask(0, { input: 'Go' });
      const kinds = (first.output as Body[]).map(({ type }) => type);
      expect(kinds).toEqual([
        'mcp_list_tools',
        'function_call',
        'mcp_call',
        'mcp_approval_request',
      ]);
      const brought = { type: 'function_call_output', call_id: 'call_0_0x', output: '21 degrees' };
      const approval_request_id = first.output[3].id;
      const word = { type: 'mcp_approval_response', approval_request_id, approve: true };
      const second = await ask(1, { previous_response_id: first.id, input: [brought, word] });
      expect(second.output).toMatchObject([
        { type: 'mcp_list_tools' },
        { type: 'mcp_call', name: 'write', output: `${before + 1}` },
        { content: [{ text: 'Sunny.' }] },
      ]);
      // Its provider has the calls, and hears of each what came of it.
      expect(model.asked.get(name)?.at(-1)).toMatchObject({
        previous_response_id: first.id,
        input: [
          { type: 'function_call_output', call_id: 'call_0_1x', output: '{"b":2}' },
          brought,
          { type: 'function_call_output', call_id: 'call_0_2x', output: `${before + 1}` },
        ],
      });
    } finally {
      await model.close();
    }
  });
});

interface Asked {
  readonly result?: { content?: { text: string }[] } & Record<string, unknown>;
  readonly error?: { data?: { reason?: string } };
}

describe('users in parallel', () => {
  const users = size(3, 50);
  const callsEach = size(8, 2000);
  const modern = '2026-07-28';

  it(
    'proof 5: see their own headers, sessions, changes and parked questions, and never another’s',
    async () => {
      const shared = await lab.save({
        url: jsonUpstream.url,
        configurations: {
          forward_headers: ['x-user'],
          user_identity_forwarding: { method: 'claims_header', include_claims: ['sub'] },
        },
      });
      const at = lab.urls(shared.slug);
      // One that answers without streams has no way to ask.
      const asking = lab.urls((await lab.save({ url: upstream.url })).slug);
      const seen = { subjects: new Set<string>(), sessions: new Set<string>() };
      const wrong: unknown[] = [];
      let calls = 0;
      let resets = 0;
      // Each gateway has met each key before all call at once: who waits for the control plane is not what this is about.
      const keys: string[] = [];
      for (let index = 0; index < users; index++) {
        const key = await lab.newKey();
        for (const url of at) {
          const met = await post(url, begin, undefined, { 'x-service-api-key': key });
          expect([met.status, await met.text()]).toEqual([200, expect.any(String)]);
        }
        keys.push(key);
      }
      await Promise.all(
        keys.map(async (key, index) => {
          const user = `user-${index}`;
          const headers = { 'x-service-api-key': key, 'x-user': user };
          const ask = async (
            message: object,
            more: Record<string, string | undefined> = {},
            urls = at,
          ): Promise<Asked> => {
            calls += 1;
            const url = urls[calls % urls.length] as string;
            const answer = await post(url, { jsonrpc: '2.0', id: calls, ...message }, undefined, {
              ...headers,
              ...more,
            });
            const told = (await answer.json()) as Asked;
            if (told.error?.data?.reason !== 'reset') return told;
            // Of 100,000 on a busy machine one meets a connection that the server closes just then; the gateway may not repeat it.
            resets += 1;
            return ask(message, more, urls);
          };
          // Older and newer clients of one key each have sessions of the server of their own.
          const began = await post(at[0] as string, begin, undefined, headers);
          await began.text();
          const session = began.headers.get('mcp-session-id') ?? '';
          const abort = new AbortController();
          const stream = await fetch(at[index % at.length] as string, {
            headers: { ...headers, accept: 'text/event-stream', 'mcp-session-id': session },
            signal: abort.signal,
          });
          let told = '';
          void (async () => {
            for await (const piece of stream.body ?? []) told += Buffer.from(piece).toString();
          })().catch(() => {});
          const newer = (name: string, over: object = {}) => ({
            method: 'tools/call',
            params: {
              name,
              arguments: {},
              _meta: {
                'io.modelcontextprotocol/protocolVersion': modern,
                'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
              },
              ...over,
            },
          });
          const newerHeaders = (name: string) => ({
            'mcp-protocol-version': modern,
            'mcp-method': 'tools/call',
            'mcp-name': name,
          });
          const older = { method: 'tools/call', params: { name: 'headers', arguments: {} } };
          const own = { older: new Set<string>(), newer: new Set<string>() };
          const check = (era: 'older' | 'newer', answer: Asked) => {
            if (answer.result === undefined) throw new Error(JSON.stringify({ era, answer }));
            const sent = JSON.parse(textOf(answer.result)) as Record<string, string>;
            const { sub } = JSON.parse(sent['x-user-claims'] ?? '{}') as { sub?: string };
            if (sent['x-user'] !== user) wrong.push({ user, era, sent });
            own[era].add(`${sub} ${sent['mcp-session-id']}`);
          };
          const each = async (count: number, run: () => Promise<void>) => {
            for (let done = 0; done < count; done += 4)
              await Promise.all(Array.from({ length: Math.min(4, count - done) }, run));
          };
          await each(callsEach / 2, async () => {
            check('older', await ask(older, { 'mcp-session-id': session }));
            check('newer', await ask(newer('headers'), newerHeaders('headers')));
          });
          // Changes: each session hears of as many as it made.
          for (let time = 0; time <= index; time++)
            await ask(
              { method: 'tools/call', params: { name: 'announce', arguments: {} } },
              { 'mcp-session-id': session },
            );
          // What was parked for one is answered by that one alone.
          await each(size(1, 20), async () => {
            const asked = await ask(newer('ask'), newerHeaders('ask'), asking);
            const inputRequests = asked.result?.inputRequests as Record<string, object>;
            const [question = ''] = Object.keys(inputRequests ?? {});
            const answered = await ask(
              newer('ask', {
                requestState: asked.result?.requestState,
                inputResponses: { [question]: { action: 'accept', content: { name: user } } },
              }),
              newerHeaders('ask'),
              asking,
            );
            if (!textOf(answered.result).includes(`"${user}"`))
              wrong.push({ user, asked, answered });
          });
          await eventually(() => expect(told.match(/resources\/updated/g)).toHaveLength(index + 1));
          abort.abort();
          if (own.older.size !== 1 || own.newer.size < 1) wrong.push({ user, own });
          for (const pair of [...own.older, ...own.newer]) {
            const [sub = '', id = ''] = pair.split(' ');
            if (seen.sessions.has(id)) wrong.push({ user, shares: id });
            seen.sessions.add(id);
            seen.subjects.add(sub);
          }
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (told.match(/resources\/updated/g)?.length !== index + 1) wrong.push({ user, told });
        }),
      );
      tell(
        `users: ${users}, ${calls} calls, ${seen.sessions.size} sessions of the server, ${resets} resets`,
      );
      expect(resets).toBeLessThanOrEqual(calls / 10_000);
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(seen.subjects.size).toBe(users);
    },
    size(60_000, 3_600_000),
  );
});

async function post(
  url: string,
  message: unknown,
  session?: string,
  headers: Record<string, string | undefined> = {},
): Promise<Response> {
  const all: Record<string, string | undefined> = {
    'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    ...headers,
  };
  const sent = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return fetch(url, {
    method: 'POST',
    headers: Object.fromEntries(sent),
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}
