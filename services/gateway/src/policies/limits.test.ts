import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counter } from '@sluice/engine';
import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

function redisLimits(): RedisLimits {
  const redis = new Redis(server.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 100,
  });
  redis.on('error', () => {});
  connections.push(redis);
  const store = new RedisLimits({
    redis,
    logger: createLogger({ service: 'test', level: 'silent' }),
    timeoutMs: 2000,
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

describe.each([
  ['memory', () => new MemoryLimits()],
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
    expect(await store.reserve('org', [tokens])).toMatchObject({
      admitted: true,
      states: [{ remaining: 100 }],
    });
    store.settle('org', [tokens], 500);
    await eventually(async () =>
      expect((await store.reserve('org', [tokens])).admitted).toBe(false),
    );
  });

  it('are told without being used up, spent or not', async () => {
    const requests = counter({ limit: 2 });
    const tokens = counter({ type: 'tokens', limit: 100 });
    const peek = async () =>
      (await store.peek('org', [requests, tokens])).map(({ remaining }) => remaining);
    for (let looks = 0; looks < 3; looks++) expect(await peek()).toEqual([2, 100]);
    await store.reserve('org', [requests, tokens]);
    await store.reserve('org', [requests, tokens]);
    store.settle('org', [tokens], 500);
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

  it('say when the window ends', async () => {
    const one = counter({ limit: 1, unit: 'rph' });
    const outcome = await store.reserve('org', [one]);
    const nextHour = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 3_600_000;
    expect(outcome).toMatchObject({ admitted: true, states: [{ resetAtMs: nextHour }] });
  });
});

describe('MemoryLimits', () => {
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
    await server.restart();
    await eventually(async () => {
      await store.reserve('org', [counter()]);
      expect(store.degraded).toBe(false);
    });
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
