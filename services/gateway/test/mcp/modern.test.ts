import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { startLegacyUpstream } from './legacy-upstream.ts';
import { inTurn, type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** Clients and servers of 2026-07-28, through two gateways in turn that share nothing but their secrets. */
let lab: McpLab;
let upstream: ModernUpstream;
let server: SavedServer;

beforeAll(async () => {
  [lab, upstream] = await Promise.all([startMcpLab({ gateways: 2 }), startModernUpstream()]);
  server = await lab.save({ url: upstream.url });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
});

const pinned = { mode: { pin: '2026-07-28' } } as const;

interface Connecting {
  urls: readonly string[];
  mode?: 'auto' | 'legacy' | { pin: string };
  prepare?: (client: Client) => void;
  key?: string;
}

async function connect({ urls, mode = pinned.mode, prepare, key }: Connecting): Promise<Client> {
  const client = new Client(
    { name: 'stranger', version: '2' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  );
  prepare?.(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(urls[0] as string), {
      fetch: inTurn(urls),
      requestInit: {
        headers: { 'x-service-api-key': key ?? lab.scenario.stack.credentials.workspace_key },
      },
    }),
  );
  return client;
}

const through = (slug = server.slug) => lab.urls(slug);
const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

/** What a client can find out about a server, without how long it may keep it. */
async function survey(client: Client) {
  return {
    tools: (await client.listTools()).tools,
    info: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities(),
    echo: await client.callTool({ name: 'echo', arguments: { say: 'hü' } }),
    failed: await client.callTool({ name: 'fails' }),
    resources: (await client.listResources()).resources,
    read: (await client.readResource({ uri: 'test://one' })).contents,
  };
}

describe('a client of the newer era', () => {
  it.each([['auto' as const], [pinned.mode]])(
    'M8: sees all that it sees without the gateway (%j)',
    async (mode) => {
      const direct = await connect({ urls: [upstream.url], mode });
      const expected = await survey(direct);
      await direct.close();
      const client = await connect({ urls: through(), mode });
      expect(await survey(client)).toEqual(expected);
      const steps: number[] = [];
      const done = await client.callTool(
        { name: 'progress' },
        { onprogress: ({ progress }) => steps.push(progress) },
      );
      expect([textOf(done), steps]).toEqual(['done', [1, 2, 3]]);
      await client.close();
      expect(upstream.headers.some((headers) => 'mcp-session-id' in headers)).toBe(false);
    },
  );

  it('ends a call by leaving', async () => {
    const client = await connect({ urls: through() });
    const abort = new AbortController();
    const call = client.callTool({ name: 'slow' }, { signal: abort.signal });
    await eventually(() => expect(upstream.headers.at(-1)?.['mcp-name']).toBe('slow'));
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually(() => expect(upstream.broken).toEqual(['slow']));
    await client.close();
  });

  it('M11: answers what a server wants to know, at whichever gateway', async () => {
    const client = await connect({
      urls: through(),
      prepare(client) {
        client.setRequestHandler('elicitation/create', async () => ({
          action: 'accept',
          content: { name: 'Ada' },
        }));
      },
    });
    const said = await client.callTool({ name: 'confirm', arguments: { say: 'go' } });
    expect(textOf(said)).toBe('go by Ada');
    await client.close();
  });

  it('M12: hears that a tool was switched off, and does not see it any more', async () => {
    const own = await lab.save({ url: upstream.url });
    const changes: unknown[] = [];
    const client = await connect({ urls: through(own.slug) });
    client.setNotificationHandler('notifications/tools/list_changed', async () => {
      changes.push('tools');
    });
    const subscription = await client.listen({ toolsListChanged: true });
    upstream.notify.toolsChanged();
    await eventually(() => expect(changes).toEqual(['tools']));
    await lab.scenario.admin('PUT', `/mcp-servers/${own.id}/capabilities`, {
      capabilities: [{ name: 'off', type: 'tool', enabled: false }],
    });
    await eventually(() => expect(changes).toEqual(['tools', 'tools']));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('off');
    await expect(client.callTool({ name: 'off', arguments: { say: 'x' } })).rejects.toMatchObject({
      code: -32602,
    });
    await subscription.close();
    await client.close();
  });
});

describe('arguments that stand in headers too', () => {
  const headersOf = (names: string[]) =>
    names.map((name) => upstream.headers.at(-1)?.[`mcp-param-${name}`]);

  it('are made again of what is sent, where an admin fixed one', async () => {
    const own = await lab.save({ url: upstream.url });
    await lab.scenario.admin('PUT', `/mcp-servers/${own.id}/capabilities`, {
      capabilities: [
        { name: 'placed', type: 'tool', enabled: true, fixed_arguments: { tenant: 'ours' } },
      ],
    });
    // Nobody listed here before: what is marked is found out first.
    const told = await raw({
      method: 'tools/call',
      params: { name: 'placed', arguments: { tenant: 'theirs', region: 'eu' } },
      headers: { 'mcp-param-tenant': 'theirs', 'mcp-param-region': 'eu' },
      slug: own.slug,
    });
    expect(textOf(told.result)).toBe('{"tenant":"ours","region":"eu"}');
    expect(headersOf(['tenant', 'region'])).toEqual(['ours', 'eu']);
  });

  it('are made for clients of the older era, which know nothing of them', async () => {
    const own = await lab.save({ url: upstream.url });
    const client = await connect({ urls: through(own.slug), mode: 'legacy' });
    const said = await client.callTool({ name: 'placed', arguments: { region: 'hü' } });
    expect(textOf(said)).toBe('{"region":"hü"}');
    expect(headersOf(['tenant', 'region'])).toEqual([undefined, '=?base64?aMO8?=']);
    await client.close();
  });
});

/** One address behind which a server becomes another. */
async function startSwitch() {
  let target = '';
  const server = createServer((req, res) => {
    const on = request(target, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    on.on('error', () => res.destroy());
    req.pipe(on);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    to(url: string) {
      target = url;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a server that becomes one of the other era', () => {
  it('proof 10: fails one call of a newer client clearly, and sends older ones to begin anew', async () => {
    const log: FixtureLog = { writes: 0, cancelled: 0 };
    const older = await startLegacyUpstream({ makeServer: () => fixtureServer(log), json: true });
    const address = await startSwitch();
    const own = await lab.save({ url: address.url });
    const [only = ''] = through(own.slug);
    const newer = await connectAnew('newer');
    async function connectAnew(era: 'older' | 'newer') {
      address.to(era === 'newer' ? upstream.url : older.url);
      const client = await connect({ urls: [only], mode: 'auto' });
      await client.listTools();
      return client;
    }
    const echo = (client: Client) => client.callTool({ name: 'echo', arguments: { say: 'x' } });
    const outcomes = async (client: Client) => {
      const found: unknown[] = [];
      for (let time = 0; time < 2; time++)
        found.push(
          await echo(client).then(
            (result) => textOf(result).includes('x'),
            (error: { code?: number }) => error.code,
          ),
        );
      return found;
    };
    /** None fails where the stream of somebody who listens there has told the gateway before. */
    const failsOnce = async (client: Client, code: number) => {
      const [first, ...others] = await outcomes(client);
      expect([code, true]).toContain(first);
      expect(others).toEqual([true]);
    };
    const legacy = () => connect({ urls: [only], mode: 'legacy' });
    const atNewer = await legacy();
    expect(await outcomes(atNewer)).toEqual([true, true]);
    address.to(older.url);
    await failsOnce(newer, -32000);
    await expect(echo(atNewer)).rejects.toThrow(/404|Session not found/);
    const atOlder = await legacy();
    expect(await outcomes(atOlder)).toEqual([true, true]);
    expect(await outcomes(newer)).toEqual([true, true]);
    address.to(upstream.url);
    await failsOnce(newer, -32603);
    await expect(echo(atOlder)).rejects.toThrow(/404|Session not found/);
    const again = await legacy();
    expect(await outcomes(again)).toEqual([true, true]);
    await Promise.all([newer, atNewer, atOlder, again].map((client) => client.close()));
    address.close();
    await older.close();
  });
});

const protocol = 'io.modelcontextprotocol/protocolVersion';
const meta = (version = '2026-07-28') => ({
  [protocol]: version,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
});

interface RawCall {
  method: string;
  params?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  key?: string;
  gateway?: number;
  slug?: string;
}

async function raw({ method, params = {}, headers = {}, key, gateway = 0, slug }: RawCall) {
  const named = params.name ?? params.uri;
  const all: Record<string, string | undefined> = {
    'x-service-api-key': key ?? lab.scenario.stack.credentials.workspace_key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': typeof named === 'string' ? named : undefined,
    ...headers,
  };
  const sent = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const response = await fetch(through(slug)[gateway] as string, {
    method: 'POST',
    headers: Object.fromEntries(sent),
    body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params: { _meta: meta(), ...params } }),
  });
  const body = await response.text();
  const json = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as {
    id?: unknown;
    result?: Record<string, unknown>;
    error?: { code: number; data?: Record<string, unknown> };
  };
  return { status: response.status, ...json };
}

const echo = { method: 'tools/call', params: { name: 'echo', arguments: { say: 'x' } } };

describe('what strangers send in the newer era', () => {
  it('M10: gets exactly the status and code that clients act on', async () => {
    const encoded = `=?base64?${Buffer.from('echo').toString('base64')}?=`;
    const cases: [string, RawCall, number, number | undefined][] = [
      ['as it should be', echo, 200, undefined],
      ['a name in base64', { ...echo, headers: { 'mcp-name': encoded } }, 200, undefined],
      ['no method', { ...echo, headers: { 'mcp-method': undefined } }, 400, -32020],
      ['another method', { ...echo, headers: { 'mcp-method': 'tools/list' } }, 400, -32020],
      ['no name', { ...echo, headers: { 'mcp-name': undefined } }, 400, -32020],
      ['another name', { ...echo, headers: { 'mcp-name': 'off' } }, 400, -32020],
      [
        'another version',
        { ...echo, headers: { 'mcp-protocol-version': '2025-11-25' } },
        400,
        -32020,
      ],
      [
        'a version that nobody speaks',
        {
          ...echo,
          params: { ...echo.params, _meta: meta('2099-01-01') },
          headers: { 'mcp-protocol-version': '2099-01-01' },
        },
        400,
        -32022,
      ],
      [
        'no capabilities',
        { ...echo, params: { ...echo.params, _meta: { [protocol]: '2026-07-28' } } },
        400,
        -32602,
      ],
      ['an unknown method', { method: 'nothing/here' }, 404, -32601],
      [
        'a probe without headers',
        {
          method: 'server/discover',
          headers: { 'mcp-method': undefined, 'mcp-protocol-version': undefined },
        },
        200,
        undefined,
      ],
    ];
    const told = await Promise.all(
      cases.map(async ([name, call]) => {
        const { status, error } = await raw(call);
        return [name, status, error?.code];
      }),
    );
    expect(told).toEqual(cases.map(([name, , status, code]) => [name, status, code]));
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(through()[0] as string, {
        method,
        headers: {
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
          accept: 'text/event-stream',
          'mcp-protocol-version': '2026-07-28',
        },
      });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      await response.text();
    }
  });

  it('M11: is told nothing by a state that was changed, or is another’s', async () => {
    const params = { name: 'confirm', arguments: { say: 'go' } };
    const asked = await raw({ method: 'tools/call', params });
    expect(asked.result).toMatchObject({ resultType: 'input_required' });
    const requestState = String(asked.result?.requestState);
    expect(requestState).not.toContain('state of go');
    const inputResponses = { who: { action: 'accept', content: { name: 'Eve' } } };
    const answer = (over: object = {}, more: Partial<RawCall> = {}) =>
      raw({
        method: 'tools/call',
        params: { ...params, inputResponses, requestState, ...over },
        gateway: 1,
        ...more,
      });
    for (const refused of [
      await answer({ requestState: `${requestState.slice(0, -3)}AAA` }),
      await answer({ requestState: 'state of go' }),
      await answer({ arguments: { say: 'stop' } }),
      await answer({}, { key: await lab.newKey() }),
    ])
      expect([refused.status, refused.error?.code]).toEqual([400, -32602]);
    const { result } = await answer();
    expect(textOf(result)).toBe('go by Eve');
  });

  it('may keep nothing that depends on who asks', async () => {
    for (const method of ['server/discover', 'tools/list', 'resources/list']) {
      const { result } = await raw({ method });
      expect(result?.cacheScope).toBe('private');
      expect(Number(result?.ttlMs)).toBeLessThanOrEqual(1000);
    }
  });
});
