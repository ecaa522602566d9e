import { request } from 'node:http';
import { usage } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from './support/harness.ts';

const startMs = Date.UTC(2026, 2, 10, 12);
/** How the ledger of the tests answers, and what it saw. */
let answers: () => AsyncGenerator<{ attempts: object[] }>;
const seen = { asked: 0, left: 0, workspaces: [] as string[][] };
let h: Harness;
beforeAll(async () => {
  h = await startHarness({
    analytics: {},
    logs: {
      async *listPastRequests({ workspaceIds }, { signal }) {
        seen.asked++;
        seen.workspaces.push([...workspaceIds]);
        signal.addEventListener('abort', () => seen.left++);
        yield* answers();
      },
    },
  });
});
afterAll(() => h.stop());
beforeEach(() => {
  Object.assign(seen, { asked: 0, left: 0, workspaces: [] });
  answers = async function* () {
    yield { attempts: Array.from({ length: 20 }, (_, number) => attempt(number)) };
  };
});

function attempt(number: number, some: object = {}) {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(number + 1, 8);
  return {
    id,
    requestId: id,
    createdAtMs: BigInt(startMs + number * 1000),
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    workspaceSlug: 'main',
    apiKeyId: 'key',
    requestUrl: '/v1/chat/completions',
    endpoint: 'chatComplete',
    provider: 'openai',
    model: 'gpt-4o',
    optionPath: 'config',
    outcome: usage.Outcome.SUCCESS,
    statusCode: 200,
    inputTokens: 10n,
    outputTokens: 100n,
    usageReported: true,
    costKnown: true,
    costNanoUsd: 1_025_000n,
    latencyMs: 100,
    ...some,
  };
}

const period = {
  time_of_generation_min: new Date(startMs).toISOString(),
  time_of_generation_max: new Date(startMs + 3_600_000).toISOString(),
};
const simulate = (change: object, key = h.first.workspace_key) =>
  h.as(key).post('/simulate', { ...period, ...change });
const full = { provider: 'openai', override_params: { model: 'gpt-4o' } };
const mini = { provider: 'openai', override_params: { model: 'gpt-4o-mini' } };
const ten = {
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'requests',
  unit: 'rpm',
  value: 10,
};
/** A gateway’s nano-dollars for ten tokens in and a hundred out: 2.50 and 10 dollars a million, and 0.15 and 0.60. */
const [atFull, atMini] = [1_025_000, 61_500];

describe('a change', () => {
  it('of a config and of limits is replayed over what was logged', async () => {
    const { body } = await simulate({ config: mini, rate_limits: [ten] }).expect(200);
    expect(body).toMatchObject({
      object: 'simulation',
      workspace_id: h.first.workspace_id,
      is_complete: true,
      requests: { replayed: 20, rerouted: 10, refused: 10, undecided: 0 },
      cost: { before_nano_usd: 20 * atFull, after_nano_usd: 10 * atMini },
      refusals: [{ refused_by: 'rate_limits[0]', requests: 10, ai_model: 'gpt-4o' }],
    });
    expect(seen.workspaces).toEqual([[h.first.workspace_id]]);
  });

  it('of limits means what saved policies mean by the same names', async () => {
    const caller = h.as(h.first.workspace_key);
    const key = { name: 'Named', slug: 'named-key', scopes: ['configs.list'] };
    const { id: apiKeyId } = (await caller.post('/api-keys/workspace/service', key)).body;
    const config = { name: 'Named', slug: 'pc-named', config: mini };
    const { id: configId } = (await caller.post('/configs', config).expect(200)).body.data;
    answers = async function* () {
      yield {
        attempts: [0, 1, 2].map((at) =>
          attempt(at, { apiKeyId, configId, configSlug: 'pc-named' }),
        ),
      };
    };
    // Each takes a thread a while to start.
    const run = async (value: object, more: object = {}) => {
      const limit = { ...ten, value: 1, conditions: [value] };
      const { body } = await simulate({ rate_limits: [limit], ...more }).expect(200);
      return [body.requests.refused, body.warnings?.length ?? 0];
    };
    expect(await run({ key: 'api_key', value: ['x/*', 'named-key'] })).toEqual([2, 0]);
    expect(await run({ key: 'config', value: configId })).toEqual([2, 0]);
    const tools = { key: 'mcp_tool', value: '*' };
    const budget = {
      conditions: [tools],
      group_by: ten.group_by,
      type: 'requests',
      credit_limit: 1,
    };
    // Calls of tools are not replayed, which the answer says.
    expect(
      await run({ key: 'api_key', value: '*', excludes: 'named-key' }, { usage_limits: [budget] }),
    ).toEqual([0, 1]);
  });

  it('of a saved config counts for those alone that had it, by the version that they had', async () => {
    const saved = await h
      .as(h.first.workspace_key)
      .post('/configs', {
        name: 'Weighted',
        config: {
          strategy: { mode: 'loadbalance' },
          targets: [full, { ...mini, weight: 3 }],
        },
      })
      .expect(200);
    const { id, slug, version_id: configVersionId } = saved.body.data;
    const decisionJson = JSON.stringify({
      mode: 'loadbalance',
      targets: 2,
      choices: [{ path: 'config', mode: 'loadbalance', picked: 0, reason: 'weight', random: 0.1 }],
    });
    const of = {
      configId: id,
      configSlug: slug,
      configVersionId,
      decisionJson,
      optionPath: 'config.targets[0]',
    };
    answers = async function* () {
      yield { attempts: [attempt(0, of), attempt(1)] };
    };
    const same = (weight: number) => ({
      config_slug: slug,
      config: {
        strategy: { mode: 'loadbalance' },
        targets: [full, { ...mini, weight }],
      },
    });
    const again = await simulate(same(3)).expect(200);
    expect(again.body.requests).toMatchObject({ replayed: 2, unchanged: 2 });
    const other = await simulate(same(1)).expect(200);
    expect(other.body.requests).toMatchObject({ unchanged: 1.5, rerouted: 0.5 });
  });
});

describe('what is asked for', () => {
  it('is refused with its path where it is none, and nothing is read', async () => {
    const fault = async (change: object, field: string) => {
      const { body, status } = await simulate(change);
      expect(status, JSON.stringify(body)).toBe(400);
      expect(JSON.stringify(body)).toContain(field);
    };
    await fault({}, 'body.config');
    await fault({ config: { provider: 'openai', strategy: 1 } }, 'body.config.strategy');
    await fault({ config: { config: 'pc-not-here' } }, 'body.config.config');
    await fault(
      { config: mini, time_of_generation_max: period.time_of_generation_min },
      'time_of_generation_max',
    );
    await fault(
      { config: mini, time_of_generation_max: '9999-12-31T00:00:00Z' },
      'time_of_generation_max',
    );
    await fault({ config: mini, requests_max: 1e9 }, 'requests_max');
    await fault({ rate_limits: [{ ...ten, admission: 'strict' }] }, 'rate_limits');
    await fault({ rate_limits: Array(51).fill(ten) }, 'rate_limits');
    await fault(
      {
        usage_limits: [
          { ...ten, type: 'cost', credit_limit: 0.5, unit: undefined, value: undefined },
        ],
      },
      'credit_limit',
    );
    await fault({ config_slug: 'x', allowed_models: [] }, 'config_slug');
    const about = (key: string, value: unknown) => ({
      rate_limits: [ten, { ...ten, conditions: [{ key, value }] }],
    });
    const value = 'body.rate_limits[1].conditions[0].value';
    await fault(about('virtual_key', ['*', 'dmeo']), `${value}[1]: names no virtual_key`);
    await fault(about('api_key', 'nobodys'), `${value}: names no api_key`);
    await fault(about('model', '@dmeo/*'), 'did you mean demo?');
    const list = { provider: 'demo', models: ['m'] };
    await fault({ allowed_models: [{ ...list, provider: 'dmeo' }] }, 'did you mean demo?');
    await fault({ allowed_models: [list, list] }, 'body.allowed_models[1].provider');
    const condition = (pattern: string) => ({
      strategy: {
        mode: 'conditional',
        // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
        conditions: [{ query: { 'metadata.x': { $regex: pattern } }, then: 'a' }],
        default: 'a',
      },
      targets: [{ ...mini, name: 'a' }],
    });
    await fault({ config: condition('(a+)+$') }, 'regular expression');
    const many = { strategy: { mode: 'fallback' }, targets: Array(2000).fill(mini) };
    await fault({ config: many }, 'targets');
    expect(seen.asked).toBe(0);
  });

  it('reaches no other organisation: neither its configs nor its requests', async () => {
    const { body } = await h
      .as(h.other.workspace_key)
      .post('/configs', { name: 'Theirs', config: mini })
      .expect(200);
    await simulate({ config: mini, config_slug: body.data.slug }).expect(404);
    await simulate({ config: mini, config_slug: body.data.id }).expect(404);
    await simulate({ config: { config: body.data.slug } }).expect(400);
    await simulate({ config: mini, workspace_id: h.other.workspace_id }, h.first.admin_key).expect(
      404,
    );
    // A workspace's key means its own, whatever it names.
    await simulate({ config: mini, workspace_id: h.other.workspace_id }).expect(200);
    expect(seen.workspaces).toEqual([[h.first.workspace_id]]);
  });
});

describe('a simulation', () => {
  it('is one at a time, and ends when the caller goes', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    answers = async function* () {
      yield { attempts: [attempt(0)] };
      await released;
    };
    const body = JSON.stringify({ ...period, config: mini });
    const gone = request({
      port: h.service.httpPort,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/simulate',
      headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
    });
    gone.on('error', () => {});
    gone.end(body);
    await eventually(() => expect(seen.asked).toBe(1));
    const busy = await simulate({ config: mini }).expect(503);
    expect(busy.headers['retry-after']).toBe('10');
    gone.destroy();
    await eventually(() => expect(seen.left).toBe(1));
    release();
    answers = async function* () {};
    await eventually(async () => {
      const { body: report } = await simulate({ config: mini }).expect(200);
      expect(report.requests.replayed).toBe(0);
    });
  });

  it('says so where the ledger is away, and where limits have more groups than it remembers', async () => {
    answers = async function* () {
      yield { attempts: [] };
      throw new Error('the ledger broke');
    };
    await simulate({ config: mini }).expect(503);
    answers = async function* () {
      for (let page = 0; page < 2; page++)
        yield {
          attempts: Array.from({ length: 1001 }, (_, number) =>
            attempt(page * 1001 + number, {
              createdAtMs: BigInt(startMs),
              apiKeyId: `k${page}-${number}`,
            }),
          ),
        };
    };
    const { body } = await simulate({ rate_limits: Array(50).fill(ten) }).expect(400);
    expect(JSON.stringify(body)).toContain('The question takes more time or memory than one may');
  });
});
