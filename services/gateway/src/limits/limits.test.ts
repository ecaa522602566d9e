import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counter } from '@sluice/engine';
import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Estimate } from '../exchange/reservation.ts';
import { SharedStore } from '../redis/shared-store.ts';
import type { LimitStore } from './limit-store.ts';
import { MemoryLimits } from './memory-limits.ts';
import { RedisLimits } from './redis-limits.ts';
import { rateLimitError, remainingHeaders } from './refusal.ts';

let server: SpawnedServer;
const stores: LimitStore[] = [];
const connections: Redis[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  for (const redis of connections) redis.disconnect();
  await server.stop();
});

function redisLimits(groupsMax?: number): RedisLimits {
  const redis = new Redis(server.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 100,
  });
  redis.on('error', () => {});
  connections.push(redis);
  const logger = createLogger({ service: 'test', level: 'silent' });
  const store = new RedisLimits({
    store: new SharedStore({ client: redis, logger }),
    timeoutMs: 2000,
    groupsMax,
  });
  stores.push(store);
  return store;
}

let next = 0;
/** A counter of its own; a day long, so that no window ends within a test. */
function counter(over: Partial<Counter> = {}): Counter {
  return {
    key: `c${next++}`,
    type: 'requests',
    unit: 'rpd',
    limit: 3,
    entity: 'API key "ci"',
    policyName: undefined,
    ...over,
  };
}

async function ready(store: LimitStore): Promise<LimitStore> {
  await eventually(async () => {
    const probe = await store.reserve('probe', [counter({ limit: 1e9 })]);
    if (store instanceof RedisLimits && store.degraded) throw new Error('not yet connected');
    return probe;
  });
  return store;
}

/** What a store takes for a request that it must admit. */
async function reserve(store: LimitStore, counters: readonly Counter[], estimate?: Estimate) {
  const outcome = await store.reserve('org', counters, estimate);
  if (!outcome.admitted) throw new Error('refused');
  return outcome;
}

describe.each([
  ['memory', (groupsMax?: number) => new MemoryLimits({ groupsMax })],
  ['redis', redisLimits],
])('limits in %s', (_name, create) => {
  let store: LimitStore;
  beforeAll(async () => {
    store = await ready(create());
  });

  it('admit exactly as many requests as the value, however many come at once', async () => {
    const counters = [counter({ limit: 100 })];
    const outcomes = await Promise.all(
      Array.from({ length: 250 }, async () => store.reserve('org', counters)),
    );
    expect(outcomes.filter((outcome) => outcome.admitted)).toHaveLength(100);
  });

  it('consume nothing when one of several counters refuses', async () => {
    const wide = counter({ limit: 10 });
    const narrow = counter({ limit: 1 });
    await store.reserve('org', [wide, narrow]);
    for (let tries = 0; tries < 5; tries++)
      expect(await store.reserve('org', [wide, narrow])).toMatchObject({
        admitted: false,
        refusedBy: { counter: narrow },
      });
    const after = await store.reserve('org', [wide]);
    expect(after).toMatchObject({ admitted: true, states: [{ remaining: 8 }] });
  });

  it('keep organisations apart', async () => {
    const one = counter({ limit: 1 });
    expect((await store.reserve('org-a', [one])).admitted).toBe(true);
    expect((await store.reserve('org-b', [one])).admitted).toBe(true);
    expect((await store.reserve('org-a', [one])).admitted).toBe(false);
  });

  it('let a token limit be crossed once, then refuse until the window ends', async () => {
    const tokens = counter({ type: 'tokens', limit: 100 });
    const reserved = await reserve(store, [tokens]);
    expect(reserved).toMatchObject({ admitted: true, states: [{ remaining: 100 }] });
    reserved.settle({ tokens: 500 });
    await eventually(async () =>
      expect((await store.reserve('org', [tokens])).admitted).toBe(false),
    );
  });

  it.each(['requests', 'tokens'] as const)(
    'count all %s of groups for which a policy has no room together, and the others exactly',
    async (type) => {
      const small = await ready(create(10));
      const pool = `p:${type}${next++}:rpd`;
      const group = (name: string) => counter({ key: `${pool}:by:${name}`, pool, type, limit: 3 });
      const admits = async (name: string) => {
        const counters = [group(name)];
        const outcome = await small.reserve('org', counters);
        if (!outcome.admitted || type === 'requests') return outcome.admitted;
        const [before] = await small.peek('org', counters);
        outcome.settle({ tokens: 1 });
        await eventually(async () => {
          const [after] = await small.peek('org', counters);
          if (after?.remaining === before?.remaining) throw new Error('not yet settled');
        });
        return true;
      };
      const admitted = (names: string[]) =>
        names.reduce(
          async (count, name) => (await count) + ((await admits(name)) ? 1 : 0),
          Promise.resolve(0),
        );
      expect(await admitted(Array.from({ length: 10 }, (_, index) => `own-${index}`))).toBe(10);
      expect(await admitted(Array.from({ length: 50 }, (_, index) => `more-${index}`))).toBe(3);
      expect(await small.peek('org', [group('another')])).toMatchObject([{ remaining: 0 }]);
      expect(await admitted(Array(5).fill('own-0'))).toBe(2);
      // Another policy has room of its own.
      const other = counter({ key: `${pool}2:by:more-1`, pool: `${pool}2`, limit: 1 });
      expect((await small.reserve('org', [other])).admitted).toBe(true);
    },
  );

  it('are told without being used up, spent or not', async () => {
    const requests = counter({ limit: 2 });
    const tokens = counter({ type: 'tokens', limit: 100 });
    const peek = async () =>
      (await store.peek('org', [requests, tokens])).map(({ remaining }) => remaining);
    for (let looks = 0; looks < 3; looks++) expect(await peek()).toEqual([2, 100]);
    await store.reserve('org', [requests, tokens]);
    (await reserve(store, [requests, tokens])).settle({ tokens: 500 });
    await eventually(async () => expect(await peek()).toEqual([0, 0]));
    // One that is spent hides none of the others.
    const fresh = counter({ limit: 7 });
    const states = await store.peek('org', [requests, fresh]);
    expect(states.map(({ remaining }) => remaining)).toEqual([0, 7]);
    expect(await store.peek('org', [])).toEqual([]);
  });

  it('tell the same window whether they are used or only looked at', async () => {
    const one = counter({ unit: 'rpw' });
    const [looked] = await store.peek('org', [one]);
    const used = await store.reserve('org', [one]);
    expect(used).toMatchObject({ admitted: true, states: [{ resetAtMs: looked?.resetAtMs }] });
  });

  const remaining = async (counters: readonly Counter[]) =>
    (await store.peek('org', counters)).map((state) => state.remaining);

  it('give back what was taken when nothing was sent, once', async () => {
    const pool = `p:back${next++}:rpd`;
    const counters = [
      counter({ limit: 10 }),
      counter({ type: 'tokens', limit: 100 }),
      counter({ key: `${pool}:by:x`, pool, limit: 10 }),
    ];
    const [first] = [await reserve(store, counters), await reserve(store, counters)];
    expect(first.amounts).toEqual([1, 0, 1]);
    expect(await remaining(counters)).toEqual([8, 100, 8]);
    first.release();
    first.release();
    await eventually(async () => expect(await remaining(counters)).toEqual([9, 100, 9]));
    expect(first.amounts).toEqual([0, 0, 0]);
  });

  it('hold an estimate of tokens, and count the real number in its place', async () => {
    const counters = [counter({ limit: 10 }), counter({ type: 'tokens', limit: 100 })];
    const estimate = { requests: 1, tokens: 70 };
    const held = await reserve(store, counters, estimate);
    expect(held.amounts).toEqual([1, 70]);
    expect(held.states.map((state) => state.remaining)).toEqual([9, 30]);
    // There is no room for as many again, and nothing was taken by asking.
    expect(await store.reserve('org', counters, estimate)).toMatchObject({
      admitted: false,
      refusedBy: { counter: counters[1] },
    });
    expect(await remaining(counters)).toEqual([9, 30]);
    held.settle({ tokens: 12 });
    await eventually(async () => expect(await remaining(counters)).toEqual([9, 88]));
    // A second call of the same request holds nothing, and is not given back.
    held.settle({ tokens: 8 });
    held.release();
    await eventually(async () => expect(await remaining(counters)).toEqual([9, 80]));
  });

  it('name each reservation, and when nothing of it is left', async () => {
    const counters = [counter({ unit: 'rpm' }), counter({ unit: 'rpw' })];
    const held = await reserve(store, counters);
    expect(held.expiresAtMs).toBe(held.states[1]?.resetAtMs);
    expect((await reserve(store, [counter()])).id).not.toBe(held.id);
  });

  it('say when the window ends', async () => {
    const one = counter({ limit: 1, unit: 'rph' });
    const outcome = await store.reserve('org', [one]);
    const nextHour = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 3_600_000;
    expect(outcome).toMatchObject({ admitted: true, states: [{ resetAtMs: nextHour }] });
  });
});

describe('MemoryLimits', () => {
  it('give nothing back to the windows that follow', () => {
    let nowMs = Date.parse('2026-01-01T00:00:59.999Z');
    const store = new MemoryLimits({ now: () => nowMs });
    const [minute, day] = [counter({ limit: 5, unit: 'rpm' }), counter({ limit: 5 })];
    const outcome = store.reserve('org', [minute, day]);
    nowMs += 1;
    store.reserve('org', [minute, day]);
    if (outcome.admitted) outcome.release();
    expect(store.peek('org', [minute, day])).toMatchObject([{ remaining: 4 }, { remaining: 4 }]);
  });

  it('begin anew with the next window', () => {
    let nowMs = Date.parse('2026-01-01T00:00:59.999Z');
    const store = new MemoryLimits({ now: () => nowMs });
    const one = counter({ limit: 1, unit: 'rpm' });
    expect(store.reserve('org', [one]).admitted).toBe(true);
    expect(store.reserve('org', [one]).admitted).toBe(false);
    nowMs += 1;
    expect(store.reserve('org', [one]).admitted).toBe(true);
  });

  it('of counters that were only looked at hold nothing', () => {
    const store = new MemoryLimits();
    for (let index = 0; index < 100; index++) store.peek('org', [counter()]);
    expect(store.size).toBe(0);
  });

  it('forget the groups of who has most of them, not those of other organisations', () => {
    const store = new MemoryLimits({ groupsMax: 1e9 });
    const quiet = counter({ limit: 5 });
    store.reserve('quiet', [quiet]);
    for (let index = 0; index < 230_000; index++) store.reserve('loud', [counter()]);
    expect(store.size).toBeLessThanOrEqual(210_000);
    expect(store.peek('quiet', [quiet])).toMatchObject([{ remaining: 4 }]);
  });

  it('know their groups over a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'limits-'));
    const path = join(folder, 'limits.json');
    const group = (name: string) =>
      counter({ key: `p:a:rpd:by:${name}`, pool: 'p:a:rpd', limit: 1 });
    try {
      const before = new MemoryLimits({ path, groupsMax: 1 });
      before.reserve('org', [group('first')]);
      await before.close();
      const after = new MemoryLimits({ path, groupsMax: 1 });
      expect(after.reserve('org', [group('second')]).admitted).toBe(true);
      expect(after.reserve('org', [group('third')]).admitted).toBe(false);
      await after.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('remember their counts over a restart', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
    const path = join(dir, 'limits.json');
    const one = counter({ limit: 1 });
    const first = new MemoryLimits({ path });
    first.reserve('org', [one]);
    await first.close();
    const second = new MemoryLimits({ path });
    expect(second.reserve('org', [one]).admitted).toBe(false);
    await second.close();
    rmSync(dir, { recursive: true });
  });
});

describe('RedisLimits', () => {
  it('admit exactly the value over two gateways', async () => {
    const [one, two] = await Promise.all([ready(redisLimits()), ready(redisLimits())]);
    const shared = [counter({ limit: 100 })];
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, async (_, index) =>
        (index % 2 ? one : two).reserve('org', shared),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.admitted)).toHaveLength(100);
  });

  it('count alone while redis is away, say so, and share again when it is back', async () => {
    const store = (await ready(redisLimits())) as RedisLimits;
    await server.kill();
    const one = counter({ limit: 1 });
    await eventually(async () => {
      await store.reserve('org', [counter()]);
      expect(store.degraded).toBe(true);
    });
    expect((await store.reserve('org', [one])).admitted).toBe(true);
    expect((await store.reserve('org', [one])).admitted).toBe(false);
    const before = [counter({ limit: 10 }), counter({ type: 'tokens', limit: 100 })];
    const held = await reserve(store, before);
    await server.restart();
    await eventually(async () => {
      await store.reserve('org', [counter()]);
      expect(store.degraded).toBe(false);
    });
    // What was taken alone is given back alone, and what it used is counted for all.
    await reserve(store, before);
    held.settle({ tokens: 5 });
    held.release();
    await eventually(async () =>
      expect(await store.peek('org', before)).toMatchObject([{ remaining: 9 }, { remaining: 95 }]),
    );
  });
});

describe('refusals', () => {
  const state = {
    counter: counter({ limit: 5, unit: 'rpm', policyName: 'team' }),
    remaining: 0,
    resetAtMs: 10_500,
  };

  it('name the entity, the policy and when to come back', () => {
    const error = rateLimitError(state, 1000);
    expect(error.status).toBe(429);
    expect(error.code).toBe('limit.rate_exceeded');
    expect(error.message).toBe(
      'Rate limit exceeded for API key "ci": 5 requests per minute allowed by policy "team".',
    );
    expect(error.headers).toEqual({
      'retry-after': '10',
      'x-service-ratelimit-limit-requests': '5',
      'x-service-ratelimit-remaining-requests': '0',
      'x-service-ratelimit-reset-requests': '10',
    });
  });

  it('show the tightest counter of each type', () => {
    const states = [
      { counter: counter({ limit: 100 }), remaining: 90, resetAtMs: 2000 },
      { counter: counter({ limit: 10 }), remaining: 1, resetAtMs: 3000 },
    ];
    expect(remainingHeaders(states, 1000)['x-service-ratelimit-remaining-requests']).toBe('1');
  });
});

describe('memory', () => {
  it('made-up groups do not fill it, and do not push out the counters in use', () => {
    const limits = new MemoryLimits();
    stores.push(limits);
    const counter = (key: string): Counter => ({
      key,
      type: 'requests',
      unit: 'rpd',
      limit: 1000,
      entity: key,
      policyName: undefined,
    });
    for (let index = 0; index < 5; index++) limits.reserve('org', [counter('in use')]);
    for (let index = 0; index < 450_000; index++)
      limits.reserve('org', [counter(`flood ${index}`)]);
    expect(limits.size).toBeLessThanOrEqual(210_000);
    const outcome = limits.reserve('org', [counter('in use')]);
    expect(outcome.admitted && outcome.states[0]?.remaining).toBe(994);
  });
});
