import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SharedStore } from '../../redis/shared-store.ts';
import { StickyChildren } from './sticky-children.ts';

describe('StickyChildren in memory', () => {
  function setUp(entriesMax?: number) {
    const clock = { nowMs: 1000 };
    return { clock, children: new StickyChildren({ entriesMax, now: () => clock.nowMs }) };
  }

  it('remember a child for its time to live', () => {
    const { clock, children } = setUp();
    children.put('org', 'user-1', 'a', 60_000);
    clock.nowMs += 59_999;
    expect(children.get('user-1')).toBe('a');
    clock.nowMs += 1;
    expect(children.get('user-1')).toBeUndefined();
    expect(children.size).toBe(0);
  });

  it('count the time to live from the first assignment', () => {
    const { clock, children } = setUp();
    children.put('org', 'user-1', 'a', 60_000);
    clock.nowMs += 59_000;
    children.put('org', 'user-1', 'a', 60_000);
    clock.nowMs += 1000;
    expect(children.get('user-1')).toBeUndefined();
  });

  it('give a key to another child, with a time to live of its own', () => {
    const { clock, children } = setUp();
    children.put('org', 'user-1', 'a', 60_000);
    clock.nowMs += 30_000;
    children.put('org', 'user-1', 'b', 60_000);
    clock.nowMs += 59_999;
    expect(children.get('user-1')).toBe('b');
  });

  it('have nothing to wait for', () => {
    expect(setUp().children.load('org', ['user-1'])).toBeUndefined();
  });

  it('hold no more keys than the cap, the most recent ones', () => {
    const { children } = setUp(100);
    for (let user = 0; user < 10_000; user++) {
      children.put('org', `user-${user}`, 'a', 60_000);
      children.get('user-0');
    }
    expect(children.size).toBe(100);
    expect(children.get('user-0')).toBe('a');
    expect(children.get('user-9999')).toBe('a');
    expect(children.get('user-1')).toBeUndefined();
  });
});

describe('StickyChildren in Redis', () => {
  let server: SpawnedServer;
  const clients: Redis[] = [];
  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect();
  });
  afterAll(() => server.stop());

  async function connect(): Promise<Redis> {
    const redis = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 50,
    });
    redis.on('error', () => {});
    clients.push(redis);
    await eventually(() => redis.status === 'ready');
    return redis;
  }

  /** As patient as a busy machine needs: what Redis does not answer in time is asked or told again after half a minute. */
  async function gateway(timeoutMs = 5000) {
    const redis = await connect();
    const clock = { skewMs: 0 };
    const now = () => performance.now() + clock.skewMs;
    const logger = createLogger({ service: 'test', level: 'silent' });
    const store = new SharedStore({ client: redis, logger });
    const children = new StickyChildren({ store, now, timeoutMs });
    await eventually(() => !children.degraded);
    return { redis, clock, children };
  }

  let users = 0;
  const newUser = () => `user-${users++}`;

  async function isKept(redis: Redis, key: string, child: string): Promise<void> {
    await eventually(async () => (await redis.get(`sluice:{org}:sticky:${key}`)) === child);
  }

  it('is asked once, and tells the other gateway the child and what is left of its time', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const user = newUser();
    await one.children.load('org', [user]);
    one.children.put('org', user, 'a', 60_000);
    await isKept(one.redis, user, 'a');
    await one.redis.pexpire(`sluice:{org}:sticky:${user}`, 20_000);

    expect(other.children.get(user)).toBeUndefined();
    await other.children.load('org', [user]);
    expect(other.children.get(user)).toBe('a');
    expect(other.children.load('org', [user])).toBeUndefined();
    other.clock.skewMs = 19_000;
    expect(other.children.get(user)).toBe('a');
    other.clock.skewMs = 20_000;
    expect(other.children.get(user)).toBeUndefined();
  });

  it('is not asked again for a second when it has nothing', async () => {
    const { children, clock } = await gateway();
    const user = newUser();
    await children.load('org', [user]);
    expect(children.get(user)).toBeUndefined();
    expect(children.load('org', [user])).toBeUndefined();
    clock.skewMs = 1000;
    const again = children.load('org', [user]);
    expect(again).toBeInstanceOf(Promise);
    await again;
  });

  it('loads several keys at once', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const keys = [newUser(), newUser(), newUser()] as const;
    one.children.put('org', keys[0], 'a', 60_000);
    one.children.put('org', keys[2], 'c', 60_000);
    await isKept(one.redis, keys[2], 'c');
    await other.children.load('org', keys);
    expect(keys.map((key) => other.children.get(key))).toEqual(['a', undefined, 'c']);
  });

  it('does not prolong an assignment', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const user = newUser();
    one.children.put('org', user, 'a', 10_000);
    await isKept(one.redis, user, 'a');
    other.children.put('org', user, 'a', 60_000);
    const isGoneInTenSeconds = () => {
      other.clock.skewMs = 10_000;
      const isGone = other.children.get(user) === undefined;
      other.clock.skewMs = 0;
      return isGone;
    };
    // It learns what is left from the answer of Redis, for which nobody waits.
    await eventually(isGoneInTenSeconds);
    expect(await one.redis.pttl(`sluice:{org}:sticky:${user}`)).toBeLessThanOrEqual(10_000);
  });

  it('makes two gateways that chose at the same moment agree on one child', async () => {
    const [one, other] = [await gateway(), await gateway()];
    for (let round = 0; round < 20; round++) {
      const user = newUser();
      await Promise.all([one.children.load('org', [user]), other.children.load('org', [user])]);
      one.children.put('org', user, 'a', 60_000);
      other.children.put('org', user, 'b', 60_000);
      await eventually(async () => {
        const kept = await one.redis.get(`sluice:{org}:sticky:${user}`);
        expect([one.children.get(user), other.children.get(user)]).toEqual([kept, kept]);
      });
    }
  });

  it('tells the other gateway of a new child within half a minute', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const user = newUser();
    one.children.put('org', user, 'a', 600_000);
    await isKept(one.redis, user, 'a');
    await other.children.load('org', [user]);
    one.children.put('org', user, 'b', 600_000);
    await isKept(one.redis, user, 'b');
    other.clock.skewMs = 29_000;
    expect(other.children.load('org', [user])).toBeUndefined();
    other.clock.skewMs = 30_000;
    await other.children.load('org', [user]);
    expect(other.children.get(user)).toBe('b');
  });

  it('may be dead: memory goes on, and tells what it remembers when Redis is back', async () => {
    const { redis, clock, children } = await gateway();
    const [before, during] = [newUser(), newUser()];
    children.put('org', before, 'a', 600_000);
    await isKept(redis, before, 'a');
    await server.kill();
    try {
      await eventually(() => redis.status !== 'ready');
      expect(children.load('org', [before, during])).toBeUndefined();
      children.put('org', during, 'b', 600_000);
      expect(children.get(before)).toBe('a');
      expect(children.degraded).toBe(true);
    } finally {
      await server.restart();
    }
    await eventually(() => redis.status === 'ready');
    // What Redis answers too late for a busy machine is asked again after half a minute.
    await eventually(
      async () => {
        clock.skewMs += 30_000;
        await children.load('org', [before, during]);
        return !children.degraded;
      },
      { intervalMs: 1000 },
    );
    expect(children.get(during)).toBe('b');
    await isKept(redis, before, 'a');
    await isKept(redis, during, 'b');
    expect(await redis.pttl(`sluice:{org}:sticky:${during}`)).toBeLessThanOrEqual(570_000);
    expect(children.degraded).toBe(false);
  });

  it('may hang: a request waits 100 ms, the next ones not, and nothing piles up', async () => {
    const { redis, children } = await gateway(100);
    const user = newUser();
    process.kill(server.pid, 'SIGSTOP');
    try {
      const startedAtMs = performance.now();
      const first = children.load('org', [user]);
      expect(first).toBeInstanceOf(Promise);
      await first;
      const waitedMs = performance.now() - startedAtMs;
      expect(waitedMs).toBeGreaterThanOrEqual(95);
      // Redis says nothing until it is woken, which is after all of this.
      expect(waitedMs).toBeLessThan(5_000);
      for (let request = 0; request < 5000; request++) {
        expect(children.load('org', [newUser()])).toBeUndefined();
        children.put('org', newUser(), 'a', 60_000);
      }
      children.put('org', user, 'a', 60_000);
      expect(children.get(user)).toBe('a');
      expect(children.degraded).toBe(true);
      expect(waitingCommands(redis)).toBeLessThanOrEqual(2);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(() => !children.degraded);
  });

  it('gets a bounded number of commands when many requests come at once', async () => {
    const { redis, children } = await gateway();
    process.kill(server.pid, 'SIGSTOP');
    try {
      for (let request = 0; request < 5000; request++) children.put('org', newUser(), 'a', 60_000);
      expect(waitingCommands(redis)).toBeLessThanOrEqual(256);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });
});

function waitingCommands(redis: Redis): number {
  return (redis as unknown as { commandQueue: { length: number } }).commandQueue.length;
}
