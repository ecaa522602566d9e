import { setTimeout as delay } from 'node:timers/promises';
import { type BreakerRule, shouldOpen } from '@sluice/engine';
import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { ownTime } from '@sluice/testkit/own-time';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SharedStore } from '../../redis/shared-store.ts';
import { CircuitBreakers } from './circuit-breakers.ts';
import { type CircuitKeeper, SharedCircuits } from './shared-circuits.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const cooldownMs = 30_000;

let server: SpawnedServer;
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  const redis = await connected();
  await redis.flushall();
});
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});
afterAll(() => server.stop());

function connect(): Redis {
  const redis = new Redis(server.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  redis.on('error', () => {});
  closers.push(async () => redis.disconnect());
  return redis;
}

async function connected(): Promise<Redis> {
  const redis = connect();
  await eventually(() => redis.status === 'ready');
  return redis;
}

function rule(over: Partial<BreakerRule> = {}): BreakerRule {
  return {
    failureThreshold: 4,
    failurePercentage: undefined,
    minimumRequests: 0,
    cooldownMs,
    failureStatusCodes: undefined,
    ...over,
  };
}

class Gateway {
  /** Added to its clock. */
  skewMs = 0;
  readonly redis = connect();
  readonly shared = new SharedCircuits({
    store: new SharedStore({ client: this.redis, logger }),
  });
  readonly breakers = new CircuitBreakers({
    shared: this.shared,
    now: () => performance.timeOrigin + performance.now() + this.skewMs,
  });

  constructor() {
    this.breakers.start();
    closers.unshift(() => this.breakers.close());
  }

  calls(path: string, failures: number, successes = 0, by = rule()): void {
    for (let call = 0; call < failures; call++) this.breakers.report('config', path, by, true);
    for (let call = 0; call < successes; call++) this.breakers.report('config', path, by, false);
  }

  isOpen(path: string): boolean {
    return this.breakers.openTargets('config')?.has(path) ?? false;
  }
}

/** A gateway that has read what Redis knows. */
async function gateway(): Promise<Gateway> {
  const started = new Gateway();
  await eventually(() => started.redis.status === 'ready' && !started.shared.degraded);
  await heardBy(started, started);
  return started;
}

let markers = 0;
/** Waits until `listener` knows all that `teller` said so far. */
async function heardBy(teller: Gateway, listener: Gateway): Promise<void> {
  const marker = `marker-${markers++}`;
  teller.calls(marker, 5);
  await eventually(() => listener.isOpen(marker) && teller.shared.pendingCount === 0);
}

async function elapsedMsUntil(check: () => boolean): Promise<number> {
  const startedAtMs = performance.now();
  await eventually(check, { intervalMs: 5 });
  return performance.now() - startedAtMs;
}

describe('SharedCircuits', () => {
  it('show a circuit opened by one gateway to the other within a second', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    const delaysMs: number[] = [];
    for (let round = 0; round < 5; round++) {
      one.calls(`a${round}`, 5);
      expect(other.isOpen(`a${round}`)).toBe(false);
      delaysMs.push(await elapsedMsUntil(() => other.isOpen(`a${round}`)));
    }
    // The machine may be busy with others in one round or two.
    expect(delaysMs.toSorted((one, other) => one - other)[2]).toBeLessThan(1000);
    expect(other.breakers.openings).toBeGreaterThanOrEqual(5);
    const closesAtMs = (of: Gateway) =>
      of.breakers.list('config').find((state) => state.path === 'a0')?.closesAtMs ?? 0;
    expect(Math.abs(closesAtMs(one) - closesAtMs(other))).toBeLessThan(500);
  });

  it('leave the end of a cooldown as the gateway set it that opened the circuit', async () => {
    const one = await gateway();
    one.calls('a', 5);
    const closesAtMs = () => one.breakers.list().find(({ path }) => path === 'a')?.closesAtMs;
    const setAtMs = closesAtMs();
    await eventually(() => one.shared.pendingCount === 0);
    await delay(700); // Another read has certainly brought the change back.
    expect(setAtMs).toBeGreaterThan(0);
    expect(closesAtMs()).toBe(setAtMs);
  });

  it('open at a threshold that only the sum of two gateways reaches', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('a', 3);
    other.calls('a', 2);
    expect([one.isOpen('a'), other.isOpen('a')]).toEqual([false, false]);
    await eventually(() => one.isOpen('a') && other.isOpen('a'));
  });

  it('open at a rate that only the sum of two gateways reaches', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    const by = rule({ failureThreshold: undefined, failurePercentage: 50, minimumRequests: 10 });
    one.calls('over', 2, 2, by);
    other.calls('over', 4, 2, by);
    one.calls('at', 3, 2, by);
    other.calls('at', 2, 3, by);
    one.calls('few', 5, 0, by);
    other.calls('few', 4, 0, by);
    await eventually(() => one.isOpen('over') && other.isOpen('over'));
    await Promise.all([heardBy(one, other), heardBy(other, one)]);
    for (const path of ['at', 'few'])
      expect([one.isOpen(path), other.isOpen(path)]).toEqual([false, false]);
  });

  it('judge by the rule of the engine, for any rule and any counts', async () => {
    const cases = fc.sample(
      fc.record({
        threshold: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
        percentage: fc.option(
          fc.constantFrom(0.5, 10, 33.3, 33.4, 50, 66.66666666666667, 99.9, 100),
          { nil: undefined },
        ),
        minimumRequests: fc.integer({ min: 0, max: 10 }),
        failures: fc.integer({ min: 0, max: 8 }),
        successes: fc.integer({ min: 0, max: 8 }),
      }),
      3000,
    );
    const expected = new Set<string>();
    const redis = await connected();
    const counter = new SharedCircuits({ store: new SharedStore({ client: redis, logger }) });
    const opened = new Set<string>();
    counter.start(keeperOf(opened));
    closers.unshift(() => counter.close());
    for (const [index, { threshold, percentage, minimumRequests, ...counts }] of cases.entries()) {
      const by = rule({
        failureThreshold: threshold,
        failurePercentage: percentage,
        minimumRequests,
      });
      for (let call = 0; call < counts.failures; call++)
        counter.count('config', `c${index}`, by, true);
      for (let call = 0; call < counts.successes; call++)
        counter.count('config', `c${index}`, by, false);
      if (shouldOpen(by, { ...counts, sinceMs: 1 })) expected.add(`c${index}`);
      // So that none of them is given up before Redis has had its turn.
      if (index % 100 === 0) await eventually(() => counter.pendingCount === 0, { intervalMs: 1 });
    }
    await eventually(() => counter.pendingCount === 0 && opened.size >= expected.size);
    expect(expected.size).toBeGreaterThan(500);
    expect(opened).toEqual(expected);
  });

  it('count within one cooldown of the first call, and leave nothing without an end', async () => {
    const one = await gateway();
    const redis = await connected();
    const count = 'sluice:cb:{cb}:count:config\na';
    one.calls('a', 1);
    await eventually(async () => (await redis.hget(count, 'failures')) === '1');
    const firstMs = await redis.pttl(count);
    expect(firstMs).toBeGreaterThan(0);
    expect(firstMs).toBeLessThanOrEqual(cooldownMs);
    await redis.pexpire(count, 20_000);
    one.calls('a', 1);
    await eventually(async () => (await redis.hget(count, 'failures')) === '2');
    expect(await redis.pttl(count)).toBeLessThanOrEqual(20_000);

    await heardBy(one, one);
    const keys = await redis.keys('*');
    expect(keys.length).toBeGreaterThanOrEqual(5);
    for (const key of keys) {
      expect(key).toMatch(/^sluice:cb:\{cb\}:/);
      // -1 has no end; -2 has met it since.
      expect(await redis.pttl(key)).not.toBe(-1);
    }
  });

  it('close at both gateways when the try of one succeeds', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('a', 5);
    await eventually(() => other.isOpen('a'));
    other.skewMs = cooldownMs;
    other.breakers.begin('config', 'a');
    other.calls('a', 0, 1);
    expect(one.isOpen('a')).toBe(true);
    await eventually(() => !one.isOpen('a'));
    expect(one.breakers.list('config').some((state) => state.path === 'a')).toBe(false);
    // And counting begins anew: four failures are not yet too many.
    one.calls('a', 2);
    other.calls('a', 2);
    await Promise.all([heardBy(one, other), heardBy(other, one)]);
    expect([one.isOpen('a'), other.isOpen('a')]).toEqual([false, false]);
  });

  it('stay open at both gateways when the try of one fails', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('a', 5);
    await eventually(() => other.isOpen('a'));
    one.skewMs = cooldownMs;
    other.skewMs = cooldownMs;
    expect(one.isOpen('a')).toBe(false);
    other.breakers.begin('config', 'a');
    other.calls('a', 1);
    await eventually(() => one.isOpen('a'));
  });

  it('tell a gateway that starts later what is open', async () => {
    const one = await gateway();
    one.calls('a', 5);
    await heardBy(one, one);
    const later = new Gateway();
    await eventually(() => later.isOpen('a'));
  });

  it('share 10,000 open targets within seconds, also with a gateway that starts later', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    const paths = Array.from({ length: 10_000 }, (_, index) => `t${index}`);
    for (const path of paths) one.calls(path, 5);
    const areAllOpen = (of: Gateway) => paths.every((path) => of.isOpen(path));
    await eventually(() => areAllOpen(other));
    const later = new Gateway();
    await eventually(() => areAllOpen(later));
    expect(one.shared.degraded).toBe(false);
  });

  it('go on alone while Redis is dead, and share again what is open when it returns', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('before', 5);
    await eventually(() => other.isOpen('before'));
    await server.kill();
    try {
      one.calls('during', 5);
      one.calls('few', 2);
      expect(one.isOpen('during')).toBe(true);
      await eventually(() => one.shared.degraded && other.shared.degraded);
      for (let target = 0; target < 20_000; target++) one.calls(`t${target}`, 1);
      await eventually(() => one.shared.pendingCount === 0);
      expect([one.isOpen('before'), other.isOpen('before')]).toEqual([true, true]);
      expect(other.isOpen('during')).toBe(false);
    } finally {
      await server.restart();
    }
    await eventually(() => other.isOpen('during'));
    const later = new Gateway();
    await eventually(() => later.isOpen('before') && later.isOpen('during'));
    one.calls('after', 3);
    other.calls('after', 2);
    await eventually(() => one.isOpen('after') && other.isOpen('after'));
    expect([one.shared.degraded, other.shared.degraded]).toEqual([false, false]);
  });

  it('go on alone while Redis hangs, with nothing piling up, and share again afterwards', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    process.kill(server.pid, 'SIGSTOP');
    try {
      one.calls('during', 5);
      expect(one.isOpen('during')).toBe(true);
      await eventually(() => one.shared.degraded && other.shared.degraded);
      // What else a busy machine does is not its time.
      const spentMs = ownTime();
      for (let target = 0; target < 50_000; target++) one.calls(`t${target}`, 1);
      expect(spentMs()).toBeLessThan(2000);
      expect(one.shared.pendingCount).toBeLessThanOrEqual(10_000);
      await eventually(() => one.shared.pendingCount === 0);
      // Longer than the deadline and the rest after it: still one command is on its way.
      await delay(2500);
      expect(waitingCommands(one.redis)).toBeLessThanOrEqual(1);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(() => other.isOpen('during') && !one.shared.degraded);
  });

  it('do not hear anew of a circuit that was closed meanwhile, when a gateway was away', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('a', 5);
    await eventually(() => other.isOpen('a'));
    one.redis.disconnect();
    await eventually(() => one.shared.degraded);
    other.skewMs = cooldownMs;
    other.breakers.begin('config', 'a');
    other.calls('a', 0, 1);
    other.skewMs = 0;
    await heardBy(other, other);
    expect(one.isOpen('a')).toBe(true);
    await one.redis.connect();
    await eventually(() => !one.isOpen('a'));
    await heardBy(one, other);
    expect(other.isOpen('a')).toBe(false);
  });

  it('hear of each other when Redis lost its memory and numbers changes anew', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    const paths = Array.from({ length: 30 }, (_, index) => `t${index}`);
    for (const path of paths) one.calls(path, 5);
    await eventually(() => paths.every((path) => other.isOpen(path)));
    one.skewMs = cooldownMs;
    for (const path of paths) one.calls(path, 0, 1);
    await eventually(() => !paths.some((path) => other.isOpen(path)));
    one.skewMs = 0;
    one.calls('still', 5);
    await eventually(() => other.isOpen('still'));
    await connected().then((redis) => redis.flushall());
    one.calls('new', 5);
    await eventually(() => other.isOpen('new'));
    const later = new Gateway();
    await eventually(() => later.isOpen('still'));
  });

  it('do not tell Redis again what it knows, when a gateway was away', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('a', 5);
    other.calls('b', 5);
    await eventually(() => one.isOpen('b') && other.isOpen('a'));
    const redis = await connected();
    const changesBefore = await redis.hget('sluice:cb:{cb}:meta', 'last');
    one.redis.disconnect();
    await eventually(() => one.shared.degraded);
    await one.redis.connect();
    await eventually(() => !one.shared.degraded && one.shared.pendingCount === 0);
    await one.breakers.close();
    expect(await redis.hget('sluice:cb:{cb}:meta', 'last')).toBe(changesBefore);
  });

  it('tell at the end what is not told yet, and end in time when Redis hangs', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    one.calls('last', 5);
    await one.breakers.close();
    await eventually(() => other.isOpen('last'));
    process.kill(server.pid, 'SIGSTOP');
    try {
      other.calls('b', 5);
      const startedAtMs = performance.now();
      await other.breakers.close();
      expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });
});

function keeperOf(opened: Set<string>): CircuitKeeper {
  return {
    openedElsewhere: (_configId, path) => opened.add(path),
    closedElsewhere: (_configId, path) => opened.delete(path),
    openCircuits: () => [],
  };
}

function waitingCommands(redis: Redis): number {
  return (redis as unknown as { commandQueue: { length: number } }).commandQueue.length;
}
