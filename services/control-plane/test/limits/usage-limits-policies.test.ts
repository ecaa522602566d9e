import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupIdOf } from '../../src/limits/usage/group-id.ts';
import { bundleOf } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { dollars, report } from '../support/report.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);
const path = '/policies/usage-limits';
const budget = {
  name: 'A budget',
  conditions: [{ key: 'api_key', value: '*' }],
  group_by: [{ key: 'metadata._user' }],
  type: 'cost',
  credit_limit: 100,
};

const create = async (change: object = {}) => {
  const answer = await workspace().post(path, { ...budget, ...change });
  expect(answer.status, answer.text).toBe(200);
  return `${path}/${answer.body.id}`;
};

/** A counter, as gateways tell of it. */
const count = async (policy: string, user: string, used = 99.123456789) => {
  const limitId = policy.slice(path.length + 1);
  const group = `metadata._user:${user}`;
  await report(h, [{ limitId, group, posted: dollars(used) }]);
  return groupIdOf(group);
};
const spent = 100;
const usageOf = async (policy: string) =>
  (await workspace().get(`${policy}?include_usage=true`).expect(200)).body.value_key_usage_map;
const active = {
  reserved: 0,
  overshoot_bound: 0,
  status: 'active',
  is_threshold_alerts_sent: false,
  is_exhausted_alerts_sent: false,
};

describe('usage-limits policies', () => {
  it('go from created to archived in the published shapes', async () => {
    const created = await workspace().post(path, { ...budget, alert_threshold: 80 });
    expect([created.status, created.body]).toEqual([
      200,
      { id: expect.any(String), object: 'policy_usage_limits' },
    ]);
    const one = `${path}/${created.body.id}`;
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await workspace().get(one)).body).toEqual({
      ...budget,
      id: created.body.id,
      description: null,
      alert_threshold: 80,
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
      last_reset_at: null,
      status: 'active',
      workspace_id: h.first.workspace_id,
      organisation_id: h.first.organisation_id,
      created_at: instant,
      last_updated_at: instant,
      object: 'policy_usage_limits',
    });
    const change = {
      name: 'Other',
      description: 'What it is for',
      conditions: [{ key: 'model', value: ['@openai/*', 'x'], excludes: 'y' }],
      credit_limit: 200.5,
      alert_threshold: null,
      periodic_reset: 'monthly',
    };
    expect((await workspace().put(one, change).expect(200)).body).toEqual({});
    const nextMonth = new Date();
    nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 1);
    expect((await workspace().get(one)).body).toMatchObject({
      ...change,
      group_by: budget.group_by,
      next_usage_reset_at: `${nextMonth.toISOString().slice(0, 10)}T00:00:00.000Z`,
    });
    expect((await workspace().delete(one).expect(200)).body).toEqual({});
    for (const answer of [
      await workspace().get(one),
      await workspace().put(one, { credit_limit: 5 }),
      await workspace().delete(one),
      await workspace().get(`${one}/entities`),
    ])
      expect([answer.status, answer.body.data.errorCode]).toEqual([404, 'AB08']);
    const archived = await workspace().get(`${one}?status=archived`).expect(200);
    expect(archived.body.status).toBe('archived');
  });

  it('filter by status, type and workspace', async () => {
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    const elsewhere = await admin().post(path, { ...budget, workspace_id: second.body.id });
    const tokens = await create({ type: 'tokens' });
    const ids = async (query: string) => {
      const answer = await admin().get(`${path}?${query}`).expect(200);
      expect(answer.body).toMatchObject({ object: 'list', total: answer.body.data.length });
      return answer.body.data.map((row: { id: string }) => `${path}/${row.id}`) as string[];
    };
    expect(await ids(`workspace_id=${second.body.slug}`)).toEqual([`${path}/${elsewhere.body.id}`]);
    expect(await ids('type=tokens')).toEqual([tokens]);
    await workspace().delete(tokens).expect(200);
    expect(await ids('type=tokens')).toEqual([]);
    expect(await ids('type=tokens&status=archived')).toEqual([tokens]);
    await admin().get(`${path}?type=money`).expect(400);
    // A workspace key sees its own, whatever it asks for.
    const own = await workspace().get(`${path}?workspace_id=${second.body.id}`).expect(200);
    expect(own.body.data.map((row: { id: string }) => row.id)).not.toContain(elsewhere.body.id);
  });

  it.each([
    ['no conditions', { conditions: [] }, 'body.conditions'],
    ['no groups', { group_by: [] }, 'body.group_by'],
    [
      'a kind of endpoint',
      { conditions: [{ key: 'endpoint_type', value: 'embed' }] },
      'body.conditions[0].key',
    ],
    ['an unknown key', { group_by: [{ key: 'colour' }] }, 'body.group_by[0].key'],
    ['less than a dollar', { credit_limit: 0.5 }, 'body.credit_limit'],
    ['less than 100 tokens', { type: 'tokens', credit_limit: 99 }, 'body.credit_limit'],
    ['less than a request', { type: 'requests', credit_limit: 0 }, 'body.credit_limit'],
    ['a threshold at the limit', { alert_threshold: 100 }, 'body.alert_threshold'],
    [
      'two cadences',
      { periodic_reset: 'weekly', periodic_reset_days: 7 },
      'body.periodic_reset_days',
    ],
    ['366 days', { periodic_reset_days: 366 }, 'body.periodic_reset_days'],
    ['a reset in the past', { next_usage_reset_at: '2020-01-01' }, 'body.next_usage_reset_at'],
    ['more than counters count', { credit_limit: 9_007_200 }, 'body.credit_limit'],
    [
      'more tokens than counters count',
      { type: 'tokens', credit_limit: 2 ** 53 },
      'body.credit_limit',
    ],
    ['half a token', { type: 'tokens', credit_limit: 100.5 }, 'body.credit_limit'],
    [
      'a star within a value',
      { conditions: [{ key: 'model', value: '@openai/*-mini' }] },
      'body.conditions[0].value',
    ],
    [
      'a star behind letters',
      { conditions: [{ key: 'model', value: ['x', 'gpt-*'] }] },
      'body.conditions[0].value[1]',
    ],
    [
      'two stars',
      { conditions: [{ key: 'model', value: 'x', excludes: '*/*' }] },
      'body.conditions[0].excludes',
    ],
    ['an unknown rule', { without_shared: 'hope' }, 'body.without_shared'],
    ['a long name', { name: 'n'.repeat(256) }, 'body.name'],
    ['a long description', { description: 'd'.repeat(501) }, 'body.description'],
  ])('refuse %s', async (_case, change, field) => {
    const answer = await workspace().post(path, { ...budget, ...change });
    expect([answer.status, answer.body.data?.errorCode, answer.body.data?.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('hold a change against what they are already', async () => {
    const one = await create({ type: 'tokens', credit_limit: 1000, alert_threshold: 900 });
    for (const [body, field] of [
      [{ credit_limit: 99 }, 'body.credit_limit'],
      [{ credit_limit: 900 }, 'body.credit_limit'],
      [{ alert_threshold: 1000 }, 'body.alert_threshold'],
      [{ conditions: [{ key: 'endpoint_type', value: 'embed' }] }, 'body.conditions[0].key'],
    ] as const)
      expect((await workspace().put(one, body)).body.data).toMatchObject({
        errorCode: 'AB01',
        field,
      });
    await workspace().put(one, { credit_limit: 500, alert_threshold: 400 }).expect(200);
    for (const change of [{ type: 'cost' }, { group_by: [{ key: 'model' }] }])
      await workspace().put(one, change).expect(400);
    expect((await workspace().get(one)).body).toMatchObject({
      type: 'tokens',
      group_by: budget.group_by,
      credit_limit: 500,
    });
  });

  it('keep the date of the next reset while the cadence stays', async () => {
    const one = await create({
      periodic_reset_days: 7,
      next_usage_reset_at: '2099-05-05T17:00:00Z',
    });
    const next = async () => (await workspace().get(one)).body.next_usage_reset_at;
    expect(await next()).toBe('2099-05-05T00:00:00.000Z');
    await workspace().put(one, { name: 'x', periodic_reset_days: 7 }).expect(200);
    expect(await next()).toBe('2099-05-05T00:00:00.000Z');
    await workspace().put(one, { periodic_reset: 'weekly' }).expect(200);
    const monday = new Date(await next());
    expect([monday.getUTCDay(), monday.getTime() % 86_400_000]).toEqual([1, 0]);
    expect((await workspace().get(one)).body.periodic_reset_days).toBeNull();
    await workspace().put(one, { periodic_reset: null }).expect(200);
    expect(await next()).toBeNull();
  });
});

describe('counters of a usage-limits policy', () => {
  it('are told with the policy on request only', async () => {
    const one = await create({ alert_threshold: 99 });
    await count(one, 'alice');
    expect((await workspace().get(one)).body).not.toHaveProperty('value_key_usage_map');
    expect(await usageOf(one)).toEqual({
      'metadata._user:alice': {
        ...active,
        current_usage: 99.123456789,
        is_threshold_alerts_sent: true,
      },
    });
  });

  it('go on and warn anew when the limit is raised, only warn anew when the threshold is', async () => {
    const one = await create({ alert_threshold: 50 });
    await count(one, 'alice', 100);
    const flags = async () => {
      const usage = (await usageOf(one))['metadata._user:alice'];
      return [usage.status, usage.is_threshold_alerts_sent, usage.is_exhausted_alerts_sent];
    };
    expect(await flags()).toEqual(['exhausted', true, true]);
    await workspace().put(one, { credit_limit: 90, alert_threshold: 40 }).expect(200);
    expect(await flags()).toEqual(['exhausted', true, true]);
    await workspace().put(one, { alert_threshold: 60 }).expect(200);
    expect(await flags()).toEqual(['exhausted', false, true]);
    await count(one, 'alice', 100.1);
    expect(await flags()).toEqual(['exhausted', true, true]);
    await workspace().put(one, { alert_threshold: null }).expect(200);
    expect(await flags()).toEqual(['exhausted', false, true]);
    await workspace().put(one, { credit_limit: 101 }).expect(200);
    expect(await flags()).toEqual(['active', false, false]);
    expect((await usageOf(one))['metadata._user:alice'].current_usage).toBe(100.1);
  });

  it('are emptied one by one, by id or by value', async () => {
    const one = await create();
    const alice = await count(one, 'alice', spent);
    await count(one, 'bob', spent);
    await count(one, 'carol@x', spent);
    const other = await create();
    await count(other, 'dave', spent);

    expect((await workspace().put(`${one}/entities/${alice}/reset`).expect(200)).body).toEqual({});
    await workspace().put(one, { reset_usage_for_value: 'metadata._user:bob' }).expect(200);
    const usage = async () =>
      Object.fromEntries(
        Object.entries(await usageOf(one)).map(([key, value]) => [
          key.slice('metadata._user:'.length),
          (value as { current_usage: number }).current_usage,
        ]),
      );
    expect(await usage()).toEqual({ alice: 0, bob: 0, 'carol@x': 100 });
    await workspace().put(one, { reset_usage_for_value: 'carol@x' }).expect(200);
    expect(await usage()).toEqual({ alice: 0, bob: 0, 'carol@x': 0 });
    expect((await usageOf(one))['metadata._user:alice']).toEqual({ ...active, current_usage: 0 });

    await workspace().put(`${other}/entities/${alice}/reset`).expect(404);
    await workspace().put(`${one}/entities/${randomUUID()}/reset`).expect(404);
    await workspace().put(`${one}/entities/alice/reset`).expect(400);
    await h.as(h.other.workspace_key).put(`${one}/entities/${alice}/reset`).expect(404);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: {
        resourceId: one.slice(path.length + 1),
        uri: { contains: '/reset' },
        responseStatusCode: 200,
      },
    });
    expect(JSON.parse(entry.detail ?? '')).toMatchObject({ entity_id: alice });
    expect(JSON.parse(entry.before ?? '')).toMatchObject({ current_usage: 100 });
    expect(JSON.parse(entry.after ?? '')).toMatchObject({ current_usage: 0, status: 'active' });
  });

  it('that were emptied begin an epoch of which gateways hear, and late words of the last change nothing', async () => {
    const one = await create();
    const alice = await count(one, 'alice', spent);
    await workspace().put(`${one}/entities/${alice}/reset`).expect(200);
    await workspace().put(`${one}/entities/${alice}/reset`).expect(200);
    const known = await workspace().put(one, { reset_usage_for_value: 'alice' }).expect(200);
    expect(known.body).toEqual({});
    const unheard = await workspace().put(one, { reset_usage_for_value: 'new@here' }).expect(200);
    expect(unheard.body.warnings).toEqual([
      expect.stringContaining('nothing was counted by "metadata._user:new%40here" yet'),
    ]);
    const bundle = await bundleOf(h, h.first.workspace_id);
    const limitId = one.slice(path.length + 1);
    const policy = bundle?.usageLimitsPolicies.find(({ id }) => id === limitId);
    expect(policy?.resets).toHaveLength(2);
    expect(policy?.resets).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          group: 'metadata._user:alice',
          generation: 3n,
          periodStartMs: 0n,
        }),
        expect.objectContaining({ group: 'metadata._user:new%40here', generation: 1n }),
      ]),
    );
    await count(one, 'alice', 101);
    expect((await usageOf(one))['metadata._user:alice'].current_usage).toBe(0);
    const group = 'metadata._user:alice';
    await report(h, [{ limitId, group, epoch: '3.0', posted: dollars(3) }]);
    expect((await usageOf(one))['metadata._user:alice'].current_usage).toBe(3);
  });

  it('that were emptied before they were told of are empty, whatever is told of them then', async () => {
    const one = await create();
    const limitId = one.slice(path.length + 1);
    const group = 'metadata._user:early';
    await workspace().put(one, { reset_usage_for_value: 'early' }).expect(200);
    const shown = async () => {
      const { body } = await workspace().get(`${one}/entities`).expect(200);
      return body.data;
    };
    const emptied = { value_key: group, current_usage: 0, last_reset_at: expect.any(String) };
    expect(await shown()).toMatchObject([emptied]);
    await report(h, [{ limitId, group, posted: dollars(40) }]);
    expect(await shown()).toMatchObject([emptied]);
    await report(h, [{ limitId, group, epoch: '1.0', posted: dollars(3) }]);
    expect(await shown()).toMatchObject([{ ...emptied, current_usage: 3 }]);
  });

  it('are listed page by page, found by any part of their value, which is taken literally', async () => {
    const one = await create();
    for (const user of ['alice', 'ali%ce', 'a_b', 'axb', 'back\\slash']) await count(one, user);
    await count(one, 'bob', spent);
    const keys = async (query: string) => {
      const answer = await workspace().get(`${one}/entities?${query}`).expect(200);
      expect(answer.body.object).toBe('list');
      return answer.body.data.map((row: { value_key: string }) => row.value_key.slice(15)).sort();
    };
    const search = (text: string) => keys(`search=${encodeURIComponent(text)}`);
    expect(await search('ali')).toEqual(['ali%ce', 'alice']);
    expect(await search('i%c')).toEqual(['ali%ce']);
    expect(await search('a_b')).toEqual(['a_b']);
    expect(await search('k\\s')).toEqual(['back\\slash']);
    expect(await search('metadata._user:bo')).toEqual(['bob']);
    expect(await keys('status=exhausted')).toEqual(['bob']);
    expect(await keys('status=active')).toHaveLength(5);
    const paged = await workspace().get(`${one}/entities?page_size=4&current_page=1`).expect(200);
    expect([paged.body.total, paged.body.data.length]).toEqual([6, 2]);
    expect(paged.body.data[0]).toEqual({
      id: expect.any(String),
      value_key: expect.any(String),
      current_usage: 99.123456789,
      reserved: 0,
      overshoot_bound: 0,
      status: 'active',
      last_reset_at: null,
    });
    for (const query of ['page_size=0', 'page_size=101', 'status=archived'])
      await workspace().get(`${one}/entities?${query}`).expect(400);
  });
});

it('a policy is in the audit log as it was and as it is, and its workspace hears of it', async () => {
  const revision = async () =>
    (await h.db.workspace.findUniqueOrThrow({ where: { id: h.first.workspace_id } })).revision;
  const atFirst = await revision();
  const one = await create();
  await workspace().put(one, { credit_limit: 150 }).expect(200);
  await workspace().delete(one).expect(200);
  expect(await revision()).toBe(atFirst + 3n);
  const entries = await h.db.auditEntry.findMany({
    where: { resourceId: one.slice(path.length + 1) },
    orderBy: { sequence: 'asc' },
  });
  const shown = entries.map(({ action, before, after }) => [
    action,
    before && JSON.parse(before).credit_limit,
    after && [JSON.parse(after).credit_limit, JSON.parse(after).status],
  ]);
  expect(shown).toEqual([
    ['create', null, [100, 'active']],
    ['update', 100, [150, 'active']],
    ['delete', 150, [150, 'archived']],
  ]);
});

it('a policy names what tools and agents are counted by, and one of rates does not', async () => {
  const open = { workspaces: [{ id: h.first.workspace_id, enabled: true }] };
  const servers: string[] = [];
  for (const [kind, more] of [
    ['agent', { auth_type: 'none' }],
    ['mcp', { auth_type: 'none', transport: 'http' }],
  ] as const) {
    const body = {
      name: 'Counted',
      slug: `counted-${kind}`,
      url: 'https://example.com/x',
      ...more,
    };
    const { id } = (await admin().post(`/${kind}-integrations`, body).expect(200)).body;
    await admin().put(`/${kind}-integrations/${id}/workspaces`, open).expect(200);
    const server = { name: 'Counted', slug: body.slug, [`${kind}_integration_id`]: id };
    servers.push((await workspace().post(`/${kind}-servers`, server).expect(200)).body.id);
  }
  const conditions = [
    { key: 'provider', value: ['agent', 'mcp'] },
    { key: 'virtual_key', value: ['counted-agent', 'counted-mcp', ...servers] },
  ];
  const one = await create({ conditions });
  const slugs = ['counted-agent', 'counted-mcp'];
  expect((await workspace().get(one)).body.conditions).toEqual([
    conditions[0],
    { key: 'virtual_key', value: [...slugs, ...slugs] },
  ]);
  await workspace().put(one, { conditions }).expect(200);
  const near = { ...budget, conditions: [{ key: 'virtual_key', value: 'counted-agnet' }] };
  const refused = await workspace().post(path, near).expect(400);
  expect(refused.body.data.message).toContain('did you mean counted-agent?');
  const rate = {
    conditions,
    group_by: budget.group_by,
    type: 'requests',
    unit: 'rpm',
    value: 3,
  };
  const rates = await workspace().post('/policies/rate-limits', rate).expect(400);
  expect(rates.body.data.errors).toHaveLength(6);
});
