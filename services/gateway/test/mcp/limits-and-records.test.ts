import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patientStore } from '../scenario.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';

/** What calls of tools leave in the ledger, and which limits count them: two gateways in turn that share a Redis. */
let lab: McpLab;
let upstream: LegacyUpstream;
let server: SavedServer;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, upstream] = await Promise.all([
    startMcpLab({ gateways: 2, redis: true, environment: patientStore }),
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
  return admin<{ data: ShownLog[]; total: number }>('GET', `/logs?${asked}`);
}

/** Raw, so that status and headers are seen. */
async function callRaw(name: string, session: string, key: string, at: number) {
  const urls = lab.urls(server.slug);
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

interface Answer {
  readonly id: string;
  readonly result?: object;
  readonly error?: { code: number; message: string; data?: { code: string; retry_after?: number } };
}

describe('limits of calls of tools', () => {
  it('100 a minute for one tool admit exactly 100 over two gateways; the others hear when to come again', async () => {
    const key = await lab.newKey();
    const { transport } = await lab.connect(server.slug, { key });
    const session = transport.sessionId ?? '';
    const before = upstream.requests.filter(({ body }) => body?.params?.name === 'echo').length;
    const policy = await admin('POST', policies, {
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      target: 'mcp_tools',
      type: 'requests',
      unit: 'rpd',
      value: 100,
      conditions: [{ key: 'mcp_tool', value: 'echo' }],
    });
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, at) => callRaw('echo', session, key, at)),
    );
    await admin('DELETE', `${policies}/${policy.id}`);
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.length - refused.length, refused.length]).toEqual([100, 30]);
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
    await expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow(
      /Budget exhausted/,
    );
    await eventually(async () => {
      const { data } = await logsOf({ api_key_ids: made.id, mode: 'mcp:tool_call' });
      const told = data.map(({ metrics, error }) => [metrics.ai_model, metrics.cost, error?.code]);
      expect(told).toEqual([
        [id, 0, 'limit.budget_exhausted'],
        [id, 40, undefined],
        [id, 40, undefined],
        [id, 20, undefined],
      ]);
    });
  });
});

describe('records of calls of tools', () => {
  it('show in logs who was asked what, and whether the tool failed, apart from the way there', async () => {
    const key = await lab.newKey();
    const { client } = await lab.connect(server.slug, {
      key,
      headers: { 'x-service-trace-id': 'a-run' },
    });
    await client.callTool({ name: 'echo', arguments: { place: 'Oslo' } });
    await client.callTool({ name: 'fails' });
    await client.close();
    let logs: ShownLog[] = [];
    await eventually(async () => {
      const found = await logsOf({ trace_id: 'a-run', mode: 'mcp:tool_call' });
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
    const byTool = await logsOf({ trace_id: 'a-run', tool: 'echo' });
    expect(byTool.data).toHaveLength(1);
    const begun = await logsOf({ trace_id: 'a-run', mode: 'mcp:initialize' });
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
