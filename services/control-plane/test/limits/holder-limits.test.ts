import { config } from '@sluice/proto-stubs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleOf, resolved } from '../support/gateway-view.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { dollars, report } from '../support/report.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const rate = (value: number, change: object = {}) => ({
  type: 'requests',
  unit: 'rpm',
  value,
  ...change,
});

const makeKey = async (limits: object) => {
  const made = await workspace().post('/api-keys/workspace/service', {
    name: 'limited',
    scopes: ['completions.write'],
    ...limits,
  });
  expect(made.status, made.text).toBe(200);
  const { id, key } = made.body as { id: string; key: string };
  return {
    path: `/api-keys/${id}`,
    shown: async () => (await workspace().get(`/api-keys/${id}`).expect(200)).body,
    atGateways: () => resolved(h, key),
  };
};

/** The holders of limits, each with a way to set them and to see them shown and told. */
const holders = {
  async 'a key'() {
    const key = await makeKey({});
    return {
      set: (limits: object) => workspace().put(key.path, limits),
      shown: key.shown,
      told: async () => {
        const told = await key.atGateways();
        return { budgets: told?.usageLimits, rates: told?.rateLimits };
      },
      inList: false,
    };
  },
  async 'a workspace'() {
    return {
      set: (limits: object) => admin().put(`/admin/workspaces/${h.first.workspace_slug}`, limits),
      shown: async () =>
        (await admin().get(`/admin/workspaces/${h.first.workspace_slug}`).expect(200)).body,
      told: async () => {
        const bundle = await bundleOf(h, h.first.workspace_id);
        return { budgets: bundle?.usageLimits, rates: bundle?.rateLimits };
      },
      inList: true,
    };
  },
  async 'a provider'() {
    const slug = await makeProvider();
    return {
      set: (limits: object) => workspace().put(`/providers/${slug}`, limits),
      shown: async () => (await workspace().get(`/providers/${slug}`).expect(200)).body,
      told: async () => {
        const told = await providerAtGateways(slug);
        return { budgets: told?.usageLimits, rates: told?.rateLimits };
      },
      inList: false,
    };
  },
  async 'a grant'() {
    const { integration, provider } = await makeGrant();
    const path = `/integrations/${integration}/workspaces`;
    return {
      set: (limits: object) =>
        admin().put(path, {
          workspaces: [{ id: h.first.workspace_slug, enabled: true, ...limits }],
          create_default_provider: false,
        }),
      shown: async () => (await admin().get(path).expect(200)).body.workspaces[0],
      told: async () => {
        const told = await providerAtGateways(provider);
        return { budgets: told?.integrationUsageLimits, rates: told?.integrationRateLimits };
      },
      inList: true,
    };
  },
} as const;

let made = 0;
async function makeProvider(slug = `limited-${++made}`): Promise<string> {
  const integration = await workspace().post('/integrations', {
    name: 'Of a provider',
    ai_provider_id: 'openai',
    key: 'sk-some-key-of-openai',
    create_default_provider: false,
  });
  await workspace()
    .post('/providers', { name: 'x', slug, integration_id: integration.body.slug })
    .expect(200);
  return slug;
}

async function makeGrant() {
  const slug = `granted-${++made}`;
  await admin()
    .post('/integrations', { name: 'Granted', slug, ai_provider_id: 'openai', key: 'sk-another' })
    .expect(200);
  await admin()
    .put(`/integrations/${slug}/workspaces`, {
      workspaces: [
        { id: h.first.workspace_slug, enabled: true, default_provider_slug: `p-${slug}` },
      ],
    })
    .expect(200);
  return { integration: slug, provider: `p-${slug}` };
}

async function providerAtGateways(slug: string) {
  const bundle = await bundleOf(h, h.first.workspace_id);
  return bundle?.providers.find((each) => each.slug === slug);
}

describe.each(Object.entries(holders))('limits of %s', (_name, hold) => {
  const listOf = <T>(limits: T | T[]): T[] => [limits].flat() as T[];

  it('have ids that stay through changes of all but what is counted', async () => {
    const { set, shown, told, inList } = await hold();
    const budget = (change: object) => {
      const limits = { credit_limit: 10, type: 'cost', ...change };
      return { usage_limits: inList ? [limits] : limits };
    };
    await set({ ...budget({}), rate_limits: [rate(10)] }).expect(200);
    const ids = async () => {
      const body = await shown();
      const { budgets, rates } = await told();
      const seen = [listOf(body.usage_limits)[0].id, body.rate_limits[0].id];
      expect([budgets?.[0]?.id, rates?.[0]?.id]).toEqual(seen);
      expect(seen).toEqual([expect.any(String), expect.any(String)]);
      return seen;
    };
    const first = await ids();
    expect(new Set(first).size).toBe(2);
    await set({
      ...budget({ credit_limit: 20, alert_threshold: 5, periodic_reset: 'monthly' }),
      rate_limits: [rate(20)],
    }).expect(200);
    expect(await ids()).toEqual(first);
    await set({
      ...budget({ type: 'tokens', credit_limit: 1000 }),
      rate_limits: [rate(20, { unit: 'rph' })],
    }).expect(200);
    const second = await ids();
    for (const [index, id] of second.entries()) expect(id).not.toBe(first[index]);
  });

  it('reach gateways with their amounts, periods and rules', async () => {
    const { set, told, inList } = await hold();
    const limits = {
      credit_limit: 3,
      periodic_reset: 'weekly',
      shadow: true,
      admission: 'strict',
      estimate: 'observed',
      without_shared: 'refuse',
      unpriced: 'refuse',
    };
    await set({
      usage_limits: inList ? [limits] : limits,
      rate_limits: [rate(7, { type: 'tokens', without_shared: 'allow' })],
    }).expect(200);
    const { budgets, rates } = await told();
    expect(budgets).toMatchObject([
      {
        type: 'cost',
        value: 3_000_000_000n,
        period: {
          generation: 0n,
          startedAtMs: 0n,
          cadence: 'weekly',
          days: 0,
          weeksBeginOnSunday: true,
        },
        rules: {
          shadow: true,
          admission: 'strict',
          estimate: 'observed',
          withoutShared: 'refuse',
          unpriced: 'refuse',
        },
      },
    ]);
    expect(new Date(Number(budgets?.[0]?.period?.nextResetAtMs)).getUTCDay()).toBe(0);
    expect(rates).toMatchObject([
      {
        type: 'tokens',
        unit: 'rpm',
        value: 7n,
        rules: { shadow: false, admission: '', withoutShared: 'allow' },
      },
    ]);
  });

  it('show what is used, and begin anew when they are reset', async () => {
    const { set, shown, told, inList } = await hold();
    const limits = { credit_limit: 5, alert_threshold: 4 };
    await set({ usage_limits: inList ? [limits] : limits }).expect(200);
    const usage = async () => listOf((await shown()).usage_limits)[0];
    const { id: limitId } = await usage();
    expect(await usage()).toMatchObject({
      current_usage: 0,
      status: 'active',
      last_reset_at: null,
    });
    await report(h, [{ limitId, posted: dollars(5.25), reserved: 1_000n, overshootBound: 2_000n }]);
    expect(await usage()).toMatchObject({
      current_usage: 5.25,
      reserved: 1e-6,
      overshoot_bound: 2e-6,
      status: 'exhausted',
    });
    await set({ reset_usage: true }).expect(200);
    expect(await usage()).toMatchObject({
      id: limitId,
      current_usage: 0,
      status: 'active',
      last_reset_at: expect.any(String),
    });
    expect((await told()).budgets?.[0]?.period?.generation).toBe(1n);
    // Words of the epoch before come late.
    await report(h, [{ limitId, posted: dollars(6) }]);
    expect(await usage()).toMatchObject({ current_usage: 0 });
    await report(h, [{ limitId, epoch: '1.0', posted: dollars(1) }]);
    expect(await usage()).toMatchObject({ current_usage: 1 });
  });

  it('of which one member is sent keep the others', async () => {
    const { set, shown, inList } = await hold();
    // A list is sent whole.
    if (inList) return;
    const full = {
      type: 'tokens',
      credit_limit: 1000,
      alert_threshold: 500,
      periodic_reset: 'monthly',
      admission: 'strict',
    };
    await set({ usage_limits: full }).expect(200);
    const { id } = (await shown()).usage_limits;
    await report(h, [{ limitId: id, posted: 700n }]);
    const after = async (change: object) => {
      await set({ usage_limits: change }).expect(200);
      return (await shown()).usage_limits;
    };
    const kept = { id, current_usage: 700, type: 'tokens' };
    expect(await after({ credit_limit: 2000 })).toMatchObject({
      ...full,
      ...kept,
      credit_limit: 2000,
      next_usage_reset_at: expect.any(String),
    });
    expect(await after({ alert_threshold: 900 })).toMatchObject({ ...kept, alert_threshold: 900 });
    // One cadence takes the place of the other.
    expect(await after({ periodic_reset_days: 7 })).toMatchObject({
      ...kept,
      periodic_reset: null,
      periodic_reset_days: 7,
      admission: 'strict',
    });
    const cleared = { alert_threshold: null, periodic_reset_days: null, admission: null };
    const bare = await after(cleared);
    expect(bare).toMatchObject({ ...kept, credit_limit: 2000, next_usage_reset_at: null });
    expect(Object.keys(bare)).not.toContain('alert_threshold');
    expect(Object.keys(bare)).not.toContain('admission');

    const refused = async (change: object) => {
      const { body } = await set({ usage_limits: change }).expect(400);
      return body.data.message;
    };
    expect(await refused({ alert_threshold: 2000 })).toBe(
      'body.usage_limits.alert_threshold: must be below credit_limit',
    );
    // What counts something else is another budget, and needs an amount.
    expect(await refused({ type: 'cost' })).toMatch(/^body\.usage_limits\.credit_limit: /);
    expect(await after({ type: 'cost', credit_limit: 3 })).toMatchObject({
      type: 'cost',
      credit_limit: 3,
      periodic_reset: null,
      current_usage: 0,
    });
    await set({ usage_limits: null }).expect(200);
    expect(await refused({ alert_threshold: 2 })).toMatch(/^body\.usage_limits\.credit_limit: /);
  });

  it('of one kind stand there once', async () => {
    const { set, inList } = await hold();
    const two = await set({ rate_limits: [rate(2), rate(4)] });
    expect(two.status).toBe(400);
    expect(two.body.data.field).toMatch(/rate_limits(\[1\])?$/);
    if (!inList) return;
    const budgets = await set({ usage_limits: [{ credit_limit: 2 }, { credit_limit: 4 }] });
    expect(budgets.status).toBe(400);
    expect(budgets.body.data.field).toMatch(/usage_limits(\[1\])?$/);
  });

  it('count no fractions of requests, and no more dollars than are exact', async () => {
    const { set, inList } = await hold();
    const budget = (credit_limit: number) => {
      const limits = { credit_limit };
      return { usage_limits: inList ? [limits] : limits };
    };
    for (const [limits, field] of [
      [{ rate_limits: [rate(1.9)] }, /rate_limits(\[0\]\.value)?$/],
      [budget(9_007_200), /usage_limits(\[0\])?\.credit_limit$/],
    ] as const) {
      const answer = await set(limits);
      expect([answer.status, answer.body.data?.errorCode]).toEqual([400, 'AB01']);
      expect(answer.body.data.field).toMatch(field);
    }
    expect((await set(budget(9_007_200))).body.data.message).toContain('9007199');
    await set(budget(9_007_199)).expect(200);
  });
});

describe('a provider made anew under its old slug', () => {
  it('has another id, and limits of its own', async () => {
    const slug = await makeProvider();
    const limits = { usage_limits: { credit_limit: 5 }, rate_limits: [rate(5)] };
    const seen = async () => {
      await workspace().put(`/providers/${slug}`, limits).expect(200);
      const told = await providerAtGateways(slug);
      return [told?.id, told?.usageLimits[0]?.id, told?.rateLimits[0]?.id];
    };
    const before = await seen();
    await workspace().delete(`/providers/${slug}`).expect(200);
    await makeProvider(slug);
    const after = await seen();
    for (const [index, id] of after.entries()) expect(id).not.toBe(before[index]);
  });
});

describe('what gateways report', () => {
  it('of the shared counter never falls, and what each counts alone adds up', async () => {
    const key = await makeKey({ usage_limits: { credit_limit: 100 } });
    const used = async () => (await key.shown()).usage_limits.current_usage;
    const limitId = (await key.shown()).usage_limits.id;
    await report(h, [{ limitId, posted: dollars(5) }]);
    await report(h, [{ limitId, posted: dollars(4) }]);
    expect(await used()).toBe(5);
    const alone = (replicaId: string, amount: number) =>
      report(h, [{ limitId, posted: dollars(amount) }], { replicaId, shared: false });
    await alone('gateway-1.0a1b2c3d', 2);
    await alone('gateway-2.0a1b2c3d', 3);
    expect(await used()).toBe(10);
    // After a restart it goes on with what it counted.
    await alone('gateway-2.ffffffff', 4);
    expect(await used()).toBe(11);
    // What it counted alone is in the shared one now.
    await report(h, [{ limitId, posted: dollars(9) }], { replicaId: 'gateway-2.ffffffff' });
    expect(await used()).toBe(11);
    await report(h, [{ limitId, posted: dollars(11) }], { replicaId: 'gateway-1.0a1b2c3d' });
    expect(await used()).toBe(11);
  });

  it('is kept of limits that there are, whatever else is in it', async () => {
    const key = await makeKey({ usage_limits: { credit_limit: 100 } });
    const limitId = (await key.shown()).usage_limits.id;
    const before = await h.db.limitUsage.count();
    await report(h, [
      { limitId: '0e9b7c1a-7a3c-4a2f-9d3f-0d6f0f9f0000', posted: 5n },
      { limitId: 'claim-of-a-token', posted: 5n },
      { limitId: '0e9b7c1a-7a3c-4a2f-9d3f-0d6f0f9f0001', workspaceId: '', posted: 5n },
      { limitId: '0e9b7c1a-7a3c-4a2f-9d3f-0d6f0f9f0002', workspaceId: 'ws-x', posted: 5n },
      { limitId, epoch: 'not an epoch', posted: 5n },
      { limitId, epoch: '0.0', posted: 6n },
      { limitId, epoch: '0.0', posted: 2n ** 64n - 1n, group: 'x\0y' },
    ]);
    expect(await h.db.limitUsage.count()).toBe(before + 2);
    expect((await key.shown()).usage_limits.current_usage).toBe(6e-9);
  });

  it('comes from many at once, of the same counters in any order', async () => {
    const keys = await Promise.all(
      Array.from({ length: 8 }, () => makeKey({ usage_limits: { credit_limit: 100 } })),
    );
    const ids = await Promise.all(keys.map(async (key) => (await key.shown()).usage_limits.id));
    const rounds = Array.from({ length: 12 }, (_, round) => {
      const counters = ids.map((limitId) => ({ limitId, posted: BigInt(round + 1) }));
      return report(h, round % 2 === 0 ? counters : counters.reverse(), {
        replicaId: `gateway-${round}.00000000`,
        shared: round % 3 === 0,
      });
    });
    await Promise.all(rounds);
    for (const key of keys)
      expect((await key.shown()).usage_limits.current_usage).toBe(
        (10 + [2, 3, 5, 6, 8, 9, 11, 12].reduce((sum, each) => sum + each, 0)) / 1e9,
      );
  });
});

describe('a period', () => {
  it('ends by itself, also while nobody looks: usage, state and dates are those of the new one', async () => {
    const key = await makeKey({ usage_limits: { credit_limit: 10, periodic_reset: 'monthly' } });
    const limits = async () => (await key.shown()).usage_limits;
    const { id: limitId, next_usage_reset_at: next } = await limits();
    await report(h, [{ limitId, posted: dollars(10) }]);
    expect((await key.shown()).status).toBe('exhausted');
    h.clock.offsetMs = Date.parse(next) + 100 * 86_400_000 - Date.now();
    try {
      const now = new Date(Date.now() + h.clock.offsetMs);
      const began = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
      expect(await key.shown()).toMatchObject({
        status: 'active',
        usage_limits: {
          current_usage: 0,
          last_reset_at: new Date(began).toISOString(),
          next_usage_reset_at: new Date(
            Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1),
          ).toISOString(),
        },
      });
      await report(h, [{ limitId, epoch: `0.${began}`, posted: dollars(2) }]);
      expect((await limits()).current_usage).toBe(2);
      // A change writes down where the period stands, and its count goes on.
      await workspace()
        .put(key.path, { usage_limits: { credit_limit: 1, periodic_reset: 'monthly' } })
        .expect(200);
      expect(await key.shown()).toMatchObject({
        status: 'exhausted',
        usage_limits: { current_usage: 2 },
      });
      expect((await key.atGateways())?.usageLimits[0]?.period).toMatchObject({
        startedAtMs: BigInt(began),
      });
    } finally {
      h.clock.offsetMs = 0;
    }
  });
});

it('a key that is used up is no other key to gateways: they count by themselves', async () => {
  const key = await makeKey({ usage_limits: { credit_limit: 1 } });
  await report(h, [{ limitId: (await key.shown()).usage_limits.id, posted: dollars(2) }]);
  expect((await key.atGateways())?.status).toBe(config.KeyStatus.ACTIVE);
});
