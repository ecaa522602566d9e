import { defineSettings } from '@sluice/env';
import { createLogger } from '@sluice/telemetry';
import {
  eventually,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  testCertificate,
  testCertificatePath,
} from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { type ExampleLimit, exampleCounter, take } from '../../test/limits.ts';
import { RedisCache } from '../cache/redis.ts';
import type { CachedReply } from '../cache/store.ts';
import { RedisLimits } from '../limits/redis-limits.ts';
import { SharedCircuits } from '../routing/state/shared-circuits.ts';
import { StickyChildren } from '../routing/state/sticky-children.ts';
import { connectRedis } from './connect-redis.ts';
import { readRedisPlace, redisSettings } from './redis-settings.ts';
import { SharedStore } from './shared-store.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What the variables of a gateway make of Redis, with all that share through it. */
function gateway(variables: Record<string, string>) {
  const place = readRedisPlace(defineSettings({ Redis: redisSettings }).readEnv(variables));
  if (place === undefined) throw new Error('the variables name no Redis');
  const store = new SharedStore({ client: connectRedis(place, logger), logger });
  closers.push(() => store.close());
  const parts = {
    limits: new RedisLimits({ store, timeoutMs: 1000 }),
    circuits: new SharedCircuits({ store }),
    sticky: new StickyChildren({ store }),
    cache: new RedisCache({ store }),
  };
  return { ...parts, isWhole: () => Object.values(parts).every(({ degraded }) => !degraded) };
}

type Gateway = ReturnType<typeof gateway>;

let next = 0;
const counter = (over: ExampleLimit = {}) => exampleCounter({ value: 1, ...over });
const isAdmitted = async (...asked: Parameters<typeof take>) =>
  (await take(...asked)).refusedAt < 0;

const reply: CachedReply = {
  form: 'json',
  contentType: 'application/json',
  storedAtMs: 1_700_000_000_123,
  body: Buffer.from('{}'),
};

/** Organisations enough that their keys are on every node of a cluster. */
const organisations = Array.from({ length: 12 }, (_, index) => `organisation-${index}`);

async function share(one: Gateway, other: Gateway): Promise<void> {
  await eventually(() => one.isWhole() && other.isWhole());
  for (const organisation of organisations) {
    const name = `k${next++}`;
    // A script that touches three keys at once.
    const counters = [
      counter(),
      counter({ type: 'tokens', value: 5, period: {} }),
      counter({ group: 'by:x', value: 5 }),
    ];
    expect(await isAdmitted(one.limits, counters, {}, organisation)).toBe(true);
    expect(await isAdmitted(other.limits, counters, {}, organisation)).toBe(false);
    one.cache.set(organisation, name, reply, 60_000);
    one.sticky.put(organisation, name, 'a', 60_000);
    await eventually(async () => expect(await other.cache.get(organisation, name)).toEqual(reply));
    await eventually(async () => {
      // What it did not find it believes for a second.
      await other.sticky.load(organisation, [name, `${name}-none`]);
      expect(other.sticky.get(name)).toBe('a');
    });
  }
  expect(one.isWhole() && other.isWhole()).toBe(true);
}

async function countsAlone(of: Gateway): Promise<void> {
  const own = counter();
  expect(await isAdmitted(of.limits, [own])).toBe(true);
  expect(await isAdmitted(of.limits, [own])).toBe(false);
}

describe('Redis Cluster', () => {
  it('is shared by gateways, each organisation in one slot, and with a node away they go on alone', async () => {
    const cluster = await startRedisCluster();
    closers.push(() => cluster.stop());
    const variables = {
      REDIS_MODE: 'cluster',
      REDIS_CLUSTER_ENDPOINTS: cluster.endpoints.slice(0, 2).join(', '),
    };
    const [one, other] = [gateway(variables), gateway(variables)];
    await share(one, other);

    await cluster.nodes[2]?.kill();
    await eventually(async () => {
      for (const organisation of organisations)
        await take(one.limits, [counter()], {}, organisation);
      expect(one.limits.degraded).toBe(true);
    });
    await countsAlone(one);
    await cluster.nodes[2]?.restart();
    await eventually(() => one.isWhole() && other.isWhole());
    await share(one, other);
  });
});

describe('Redis Sentinel', () => {
  it('leads gateways to the master, and to the next one when that dies', async () => {
    const redis = await startRedisSentinel({ password: 'of redis' });
    closers.push(() => redis.stop());
    const variables = {
      REDIS_MODE: 'sentinel',
      REDIS_SENTINELS: `127.0.0.1:${redis.sentinel.port}`,
      REDIS_SENTINEL_MASTER: redis.masterName,
      REDIS_SENTINEL_PASSWORD: redis.sentinelPassword,
      REDIS_PASSWORD: 'of redis',
    };
    const [one, other] = [gateway(variables), gateway(variables)];
    await share(one, other);

    await redis.master.kill();
    await eventually(() => one.limits.degraded);
    await countsAlone(one);
    // A sentinel that had no turn for two seconds distrusts its clock, and makes nobody a master for thirty.
    await eventually(() => one.isWhole() && other.isWhole(), { timeoutMs: 90_000 });
    await share(one, other);
  });
});

describe('TLS', () => {
  it.each(['standalone', 'cluster', 'sentinel'] as const)(
    'to Redis, %s',
    async (mode) => {
      const ca = { REDIS_TLS_ENABLED: 'true', REDIS_TLS_CERTS: testCertificatePath('authority') };
      const variables: Record<string, string> = { ...ca, REDIS_MODE: mode };
      if (mode === 'standalone') {
        const redis = await startRedis({ tls: true });
        closers.push(() => redis.stop());
        Object.assign(variables, { REDIS_HOST: 'localhost', REDIS_PORT: String(redis.port) });
      } else if (mode === 'cluster') {
        const cluster = await startRedisCluster({ tls: true });
        closers.push(() => cluster.stop());
        variables.REDIS_CLUSTER_ENDPOINTS = cluster.endpoints.join(',');
      } else {
        const redis = await startRedisSentinel({ tls: true });
        closers.push(() => redis.stop());
        variables.REDIS_SENTINELS = `127.0.0.1:${redis.sentinel.port}`;
        variables.REDIS_SENTINEL_MASTER = redis.masterName;
        variables.REDIS_SENTINEL_PASSWORD = redis.sentinelPassword;
      }
      await share(gateway(variables), gateway(variables));

      // A certificate of an authority that was not named is not believed.
      const { REDIS_TLS_CERTS: _, ...withoutAuthority } = variables;
      const stranger = gateway(withoutAuthority);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(stranger.limits.degraded).toBe(true);
    },
    60_000,
  );

  it('is what a rediss:// URL asks for', async () => {
    const redis = await startRedis({ tls: true, password: 'p@ss word' });
    closers.push(() => redis.stop());
    const variables = {
      REDIS_URL: `rediss://:${encodeURIComponent('p@ss word')}@127.0.0.1:${redis.port}/3`,
      REDIS_TLS_CERTS: testCertificate('authority'),
    };
    await share(gateway(variables), gateway(variables));
  });
});
