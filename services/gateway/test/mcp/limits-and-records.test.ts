import { eventually, freshName } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { patientStore } from '../scenario.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { isFull, size, tell } from './proof-form.ts';

/** What calls of tools leave in the ledger, and which limits count them: two gateways in turn that share a Redis. */
let lab: McpLab;
let upstream: LegacyUpstream;
let server: SavedServer;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, upstream] = await Promise.all([
    startMcpLab({
      processes: true,
      gateways: size(2, 3),
      redis: true,
      environment: patientStore,
    }),
    startLegacyUpstream({ makeServer: () => fixtureServer(log), json: true }),
  ]);
  server = await lab.save({ url: upstream.url });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
});

const policies = '/policies/rate-limits';
const admin = <Answer = { id: string }>(method: string, path: string, body?: object) =>
  lab.scenario.admin<Answer>(method, path, body);

/** Ends with its test, which may fail: else it limits all that are after it. */
async function newPolicy(path: string, body: object) {
  const made = await admin('POST', path, body);
  const end = () => admin('DELETE', `${path}/${made.id}`);
  onTestFailed(async () => {
    await end().catch(() => {});
  });
  return { ...made, end };
}

interface ShownLog {
  readonly metrics: Record<string, unknown>;
  readonly call?: Record<string, unknown>;
  readonly error?: { code: string };
  readonly request: { url: string };
}

function logsOf(query: Record<string, string>) {
  const asked = new URLSearchParams({
    time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
    time_of_generation_max: new Date(Date.now() + 3_600_000).toISOString(),
    workspace_slug: lab.scenario.stack.credentials.workspace_id,
    page_size: '1000',
    ...query,
  });
  return admin<{ data: ShownLog[]; next_cursor: string | null }>('GET', `/logs?${asked}`);
}

/** Raw, so that status and headers are seen. */
async function callRaw(name: string, session: string, key: string, at: number, slug = server.slug) {
  const urls = lab.urls(slug);
  const answer = await fetch(urls[at % urls.length]!, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-service-api-key': key,
      'mcp-session-id': session,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: `call-${at}`,
      method: 'tools/call',
      params: { name, arguments: { at } },
    }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer };
}

/** A session that no client holds: its id. */
async function beginRaw(key: string): Promise<string> {
  const urls = lab.urls(server.slug);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-service-api-key': key,
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const answer = await fetch(urls[0]!, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await answer.text();
  const session = answer.headers.get('mcp-session-id') ?? '';
  const told = await fetch(urls.at(-1)!, {
    method: 'POST',
    headers: { ...headers, 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  expect([answer.status, told.status]).toEqual([200, 202]);
  await told.text();
  return session;
}

interface Answer {
  readonly id: string;
  readonly result?: object;
  readonly error?: { code: number; message: string; data?: { code: string; retry_after?: number } };
}

describe('limits of calls of tools', () => {
  it('proof 6: 100 a minute for one tool admit exactly 100 over all gateways; the others hear when to come again', async () => {
    const key = await lab.newKey();
    const { transport } = await lab.connect(server.slug, { key });
    const session = transport.sessionId ?? '';
    const before = upstream.requests.filter(({ body }) => body?.params?.name === 'echo').length;
    const policy = await newPolicy(policies, {
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      target: 'mcp_tools',
      type: 'requests',
      unit: 'rpd',
      value: 100,
      conditions: [{ key: 'mcp_tool', value: 'echo' }],
    });
    const answers = await Promise.all(
      Array.from({ length: size(130, 1000) }, (_, at) => callRaw('echo', session, key, at)),
    );
    await policy.end();
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.length - refused.length).toBe(100);
    expect(
      upstream.requests.filter(({ body }) => body?.params?.name === 'echo').length - before,
    ).toBe(100);
    for (const { headers, body } of refused) {
      const { error, id } = body;
      expect(id).toMatch(/^call-\d+$/);
      expect(error).toMatchObject({
        code: -32000,
        message: expect.stringContaining('Rate limit exceeded'),
        data: { code: 'limit.rate_exceeded', retry_after: Number(headers.get('retry-after')) },
      });
    }
    const { headers: told } = answers.find(({ status }) => status === 200)!;
    expect(told.get('x-service-ratelimit-limit-requests')).toBe('100');
    // Of another tool, and once the policy is gone, nothing is limited.
    expect((await callRaw('echo', session, key, 1000)).status).toBe(200);
  });

  it('a key of three requests makes three calls; lists and pings are free', async () => {
    const made = await admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'three-calls',
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      scopes: ['mcp.invoke'],
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 3 }],
    });
    const { client } = await lab.connect(server.slug, { key: made.key });
    for (let page = 0; page < 5; page++) await client.listTools();
    await client.callTool({ name: 'echo', arguments: {} });
    await client.readResource({ uri: 'test://one' });
    await client.getPrompt({ name: 'greet', arguments: { who: 'you' } });
    await expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow(
      /Rate limit exceeded/,
    );
    await client.ping();
    await client.listTools();
  });
});

describe('prices of calls of tools', () => {
  it('are counted by the budget of a key, by the tool or else by all, and stand in its records', async () => {
    const { id, slug, integrationId } = await lab.save({ url: upstream.url });
    const prices = { call: 40, tools: { fails: { call: 20 } } };
    await admin('PUT', `/mcp-integrations/${integrationId}`, { prices });
    const made = await admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name: 'a-dollar',
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      scopes: ['mcp.invoke'],
      usage_limits: { type: 'cost', credit_limit: 1 },
    });
    const { client } = await lab.connect(slug, { key: made.key });
    // 20 + 40 + 40 cents.
    for (const name of ['fails', 'echo', 'echo']) await client.callTool({ name, arguments: {} });
    // What was used is settled behind the answers: for a moment the other gateway finds it held.
    await eventually(() =>
      expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow(/Budget exhausted/),
    );
    await eventually(async () => {
      const { data } = await logsOf({ api_key_ids: made.id, mode: 'mcp:tool_call' });
      const told = data.map(({ metrics, error }) => [metrics.ai_model, metrics.cost, error?.code]);
      expect(told[0]).toEqual([id, 0, 'limit.budget_exhausted']);
      expect(told.filter(([, cost]) => cost !== 0)).toEqual([
        [id, 40, undefined],
        [id, 40, undefined],
        [id, 20, undefined],
      ]);
    });
  });
});

describe('a budget of a dollar for one tool', () => {
  it('proof 6: is not overshot by calls in parallel at all gateways, since their price is known before', async () => {
    const own = await lab.save({ url: upstream.url });
    const cents = size(10, 1);
    await admin('PUT', `/mcp-integrations/${own.integrationId}`, { prices: { call: cents } });
    const { workspace_id } = lab.scenario.stack.credentials;
    const policy = await newPolicy('/policies/usage-limits', {
      workspace_id,
      name: 'a dollar',
      type: 'cost',
      credit_limit: 1,
      conditions: [{ key: 'mcp_server', value: own.slug }],
      group_by: [{ key: 'mcp_tool' }],
    });
    const key = await lab.newKey();
    const { transport } = await lab.connect(own.slug, { key });
    const session = transport.sessionId ?? '';
    const callsThere = () =>
      upstream.requests.filter(({ body }) => body?.method === 'tools/call').length;
    const before = callsThere();
    const answers = await Promise.all(
      Array.from({ length: size(24, 400) }, (_, at) => callRaw('echo', session, key, at, own.slug)),
    );
    const admitted = answers.filter(({ status }) => status === 200).length;
    tell(`budget: ${admitted} calls of ${cents} cents of ${answers.length}`);
    // What is under way holds its price, so calls may be refused that would have had room a moment later, and none is let in too many.
    expect(admitted).toBe(100 / cents);
    expect(callsThere() - before).toBe(admitted);
    await policy.end();
  });
});

describe('POST /v1/explain/mcp/{server}', () => {
  const explain = async (name: string, { key = '', at = server.slug, body = {} } = {}) => {
    const [origin] = lab.scenario.stack.gatewayUrls;
    const answer = await fetch(`${origin}/v1/explain/mcp/${at}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-api-key': key },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { a: 1 } },
        ...body,
      }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  it('tells limits, price and refusal of a call that is not made', async () => {
    const { id, slug, integrationId } = await lab.save({ url: upstream.url });
    await admin('PUT', `/mcp-integrations/${integrationId}`, { prices: { call: 2, token: 0.5 } });
    const { workspace_id } = lab.scenario.stack.credentials;
    const policy = await newPolicy(policies, {
      workspace_id,
      name: 'one echo',
      target: 'mcp_tools',
      type: 'requests',
      unit: 'rpd',
      value: 1,
      conditions: [
        { key: 'mcp_server', value: slug },
        { key: 'mcp_tool', value: 'echo' },
      ],
    });
    const key = await lab.newKey();
    const before = upstream.requests.length;
    for (let time = 0; time < 3; time++) {
      const { status, body } = await explain('echo', { key, at: slug });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        object: 'explain',
        mode: 'mcp:tool_call',
        capability: 'echo',
        server: {
          id,
          slug,
          transport: 'http',
          auth_type: 'none',
          host: new URL(upstream.url).host,
          merged: false,
        },
        limits: [
          {
            policy: { id: policy.id, name: 'one echo' },
            matched: true,
            remaining: 1,
            would_refuse: false,
          },
        ],
        price: { call: 2, token: 0.5 },
        estimate: { cost_nano_usd: expect.any(Number) },
      });
      expect(body).not.toHaveProperty('would_fail');
    }
    expect(upstream.requests.length).toBe(before);
    const { client } = await lab.connect(slug, { key });
    await client.callTool({ name: 'echo', arguments: {} });
    await eventually(async () =>
      expect((await explain('echo', { key, at: slug })).body).toMatchObject({
        limits: [{ remaining: 0, would_refuse: true }],
        would_fail: { status: 429, code: 'limit.rate_exceeded', rpc_code: -32000 },
      }),
    );
    // Another tool does not meet the policy.
    const other = (await explain('write', { key, at: slug })).body;
    expect(other).toMatchObject({ limits: [{ matched: false, unmet_condition: 'mcp_tool' }] });
    await policy.end();
  });

  it('refuses who may not call, and what is no request', async () => {
    const key = await lab.newKey();
    expect((await explain('echo', { key: 'nobody' })).status).toBe(401);
    expect((await explain('echo', { key: await lab.newKey(['completions.write']) })).status).toBe(
      403,
    );
    expect((await explain('echo', { key, at: 'no-such-server' })).body).toMatchObject({
      server: null,
      would_fail: { status: 404 },
    });
    const notification = await explain('echo', { key, body: { id: undefined } });
    expect([notification.status, notification.body.error]).toMatchObject([
      400,
      { code: 'request.invalid_field', param: 'body' },
    ]);
    expect((await explain('echo', { key, body: { jsonrpc: '1.0' } })).status).toBe(400);
    const list = await explain('', { key, body: { method: 'tools/list', params: {} } });
    expect(list.body).toMatchObject({
      mode: 'mcp:tool_list',
      limits: [],
      price: null,
      estimate: null,
    });
  });
});

describe('records of calls of tools', () => {
  it('of who is let in nowhere are one, too, with the reason', async () => {
    const key = await lab.newKey();
    const closed = await lab.save({ url: upstream.url });
    await admin('PUT', `/mcp-servers/${closed.id}/user-access`, {
      default_user_access: 'deny',
      user_access: [],
    });
    const refused = async (slug: string) => {
      const { status, headers } = await callRaw('echo', '', key, 0, slug);
      const id = headers.get('x-service-request-id');
      return [status, await eventually(() => admin<object>('GET', `/requests/${id}`))];
    };
    const told = (code: string, model: string, status: number) => ({
      status_code: status,
      error: { code },
      cost: 0,
      endpoint: 'mcp:other',
      attempts: [{ provider: 'mcp', ai_model: model, status_code: status }],
    });
    expect(await refused(closed.slug)).toMatchObject([403, told('mcp.forbidden', closed.id, 403)]);
    expect(await refused('nowhere')).toMatchObject([404, told('mcp.not_found', '', 404)]);
    // Nobody's, and so nowhere.
    const { status, headers } = await callRaw('echo', '', 'nonsense', 0);
    expect(status).toBe(401);
    const of = admin('GET', `/requests/${headers.get('x-service-request-id')}`);
    await expect(of).rejects.toThrow();
  });

  it('show in logs who was asked what, and whether the tool failed, apart from the way there', async () => {
    const key = await lab.newKey();
    const trace_id = freshName('a-run');
    const { client } = await lab.connect(server.slug, {
      key,
      headers: { 'x-service-trace-id': trace_id },
    });
    await client.callTool({ name: 'echo', arguments: { place: 'Oslo' } });
    await client.callTool({ name: 'fails' });
    await client.close();
    let logs: ShownLog[] = [];
    await eventually(async () => {
      const found = await logsOf({ trace_id, mode: 'mcp:tool_call' });
      expect(found.data).toHaveLength(2);
      logs = found.data;
    });
    const [fails, echo] = logs;
    expect(echo).toMatchObject({
      request: { url: `mcp://${server.slug}/tools/echo` },
      metrics: {
        ai_org: 'mcp',
        ai_model: server.id,
        virtual_key: server.slug,
        mode: 'mcp:tool_call',
        response_status_code: 200,
        is_success: true,
        cost: 0,
      },
      call: {
        method: 'tools/call',
        capability: 'echo',
        tool_failed: false,
        auth_type: 'api_key',
        transport_client: 'http',
      },
    });
    expect(fails).toMatchObject({
      metrics: { is_success: true },
      call: { capability: 'fails', tool_failed: true },
    });
    expect(Number(echo?.metrics.req_units)).toBeGreaterThan(0);
    const byTool = await logsOf({ trace_id, tool: 'echo' });
    expect(byTool.data).toHaveLength(1);
    const begun = await logsOf({ trace_id, mode: 'mcp:initialize' });
    expect(begun.data[0]?.call?.protocol_version).toMatch(/^20/);
  });

  it('are one for each of 300 calls over two gateways, whatever came of them', async () => {
    const key = await lab.newKey();
    const { transport } = await lab.connect(server.slug, {
      key,
      headers: { 'x-service-trace-id': 'other' },
    });
    const session = transport.sessionId ?? '';
    const names = ['echo', 'fails', 'nobody-knows'];
    for (let batch = 0; batch < 10; batch++)
      await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          callRaw(names[at % 3]!, session, key, batch * 30 + at),
        ),
      );
    await eventually(async () => {
      const counts = await Promise.all(
        names.map(async (tool) => (await logsOf({ api_key_ids: await idOf(key), tool })).data),
      );
      expect(counts.map(({ length }) => length)).toEqual([100, 100, 100]);
      expect(new Set(counts.flat().map(({ metrics }) => metrics.id)).size).toBe(300);
    });
  });
});

/** The key's id, by the log of its own session. */
async function idOf(_key: string): Promise<string> {
  const found = await logsOf({ trace_id: 'other', mode: 'mcp:initialize' });
  return String(found.data[0]?.metrics.api_key_id ?? 'none');
}

const killedCalls = size(240, 20_000);
/** Each gateway once at least. */
const killsMin = size(2, 4);
const killedSessions = size(12, 1000);
const killingMs = 60_000 + killedCalls * 60;

describe('parts that are away', () => {
  it('proof 10: change nothing for who has a session or begins one, and every call has its record afterwards', async () => {
    const { stack } = lab.scenario;
    const key = await lab.newKey();
    const session = await beginRaw(key);
    const asked: string[] = [];
    // No go has asked for the same.
    const first = Date.now();
    const call = async (of: string) => {
      const at = first + asked.length;
      asked.push(JSON.stringify(`call-${at}`));
      const { status, body } = await callRaw('echo', of, key, at);
      return status === 200 && body.result !== undefined;
    };
    // A key that a gateway never saw is nobody's there while the control plane is away.
    for (const _ of lab.urls(server.slug)) expect(await call(session)).toBe(true);
    const away = {
      'control plane': stack.part('control-plane').pid,
      ledger: stack.part('data-service').pid,
      Redis: stack.redis?.pid,
    };
    for (const [name, pid] of Object.entries(away)) {
      process.kill(pid as number, 'SIGSTOP');
      try {
        const works = [await call(session), await call(session), await call(await beginRaw(key))];
        expect([name, ...works]).toEqual([name, true, true, true]);
      } finally {
        process.kill(pid as number, 'SIGCONT');
      }
    }
    await eventually(async () => {
      const recorded = await rpcIds({ tool: 'echo' });
      const found = recorded.filter((id) => asked.includes(id));
      expect(found.toSorted()).toEqual(asked.toSorted());
    });
  });
});

describe('gateways that are killed', () => {
  it(
    'proof 4: lose no session and only calls under way; each call that a server was asked leaves one record, and none two',
    async () => {
      const made = await admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
        name: 'killed',
        workspace_id: lab.scenario.stack.credentials.workspace_id,
        scopes: ['mcp.invoke'],
      });
      const gateways = lab.urls(server.slug).length;
      const begun = upstream.sessions.size;
      // Others asked before.
      const heard = upstream.requests.length;
      const sessions: string[] = [];
      while (sessions.length < killedSessions)
        sessions.push(...(await Promise.all(Array.from({ length: 4 }, () => beginRaw(made.key)))));
      expect(upstream.sessions.size - begun).toBe(sessions.length);
      const first = 100_000;
      const answered: string[] = [];
      /** Of calls whose gateway was alive from their beginning to their end. */
      const odd: unknown[] = [];
      const deaths = Array.from({ length: gateways }, () => 0);
      const isAway = deaths.map(() => false);
      let failed = 0;
      let next = 0;
      const work = Array.from({ length: 16 }, async () => {
        while (answered.length < killedCalls) {
          const at = first + next++;
          const gateway = at % gateways;
          const { [gateway]: before } = deaths;
          const wasAway = isAway[gateway];
          const session = sessions[(at * 7) % sessions.length]!;
          try {
            const { status, body } = await callRaw('echo', session, made.key, at);
            if (status === 200 && body.result !== undefined) answered.push(body.id);
            else odd.push({ status, body });
          } catch (error) {
            failed++;
            if (!wasAway && deaths[gateway] === before) odd.push(String(error));
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
      });
      let kills = 0;
      const killing = (async () => {
        while (kills < killsMin || (isFull && answered.length < killedCalls)) {
          const due = isFull ? 0 : ((kills + 1) * killedCalls) / (killsMin + 1);
          await eventually(() => expect(answered.length).toBeGreaterThanOrEqual(due), {
            timeoutMs: killingMs,
          });
          if (isFull) await new Promise((resolve) => setTimeout(resolve, 10_000));
          const gateway = kills++ % gateways;
          const part = lab.scenario.stack.part(
            gateway === 0 ? 'gateway' : `gateway-${gateway + 1}`,
          );
          deaths[gateway]! += 1;
          isAway[gateway] = true;
          await part.kill();
          await part.start();
          isAway[gateway] = false;
        }
      })();
      await Promise.all([...work, killing]);
      // Some were under way.
      expect(failed).toBeGreaterThan(0);
      expect(odd).toEqual([]);
      // None was lost, at whichever gateway, and none was begun again at the server.
      const last = await Promise.all(
        sessions.map((session, at) => callRaw('write', session, made.key, at)),
      );
      expect(last.filter(({ status, body }) => status !== 200 || !body.result)).toEqual([]);
      expect(upstream.sessions.size - begun).toBe(sessions.length);
      tell(
        `kills: ${kills} of ${gateways} gateways, ${sessions.length} sessions, ${answered.length} calls answered, ${failed} under way failed`,
      );
      const asked = new Set(
        upstream.requests.slice(heard).flatMap(({ body }) => {
          const id = String(body?.id);
          return Number(id.slice('call-'.length)) >= first ? [id] : [];
        }),
      );
      expect(asked.size).toBeGreaterThanOrEqual(answered.length);
      await eventually(async () => {
        const recorded = await rpcIds({ api_key_ids: made.id, tool: 'echo' });
        expect(new Set(recorded).size).toBe(recorded.length);
        const known = new Set(recorded);
        const missing = [...asked, ...answered].filter((id) => !known.has(JSON.stringify(id)));
        expect(missing).toEqual([]);
      });
    },
    killingMs,
  );
});

/** Of every record, over all pages. */
async function rpcIds(query: Record<string, string>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page: { data: ShownLog[]; next_cursor: string | null } = await logsOf({
      ...query,
      ...(cursor ? { cursor } : {}),
    });
    ids.push(...page.data.map(({ call }) => String(call?.rpc_id)));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}
