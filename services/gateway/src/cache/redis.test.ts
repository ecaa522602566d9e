import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exampleCacheRequest, exampleChatReply } from '../../test/cache-request.ts';
import { SharedStore } from '../redis/shared-store.ts';
import { RedisCache } from './redis.ts';
import { ReplyCache } from './reply-cache.ts';
import { MemoryVectors } from './semantic/memory-vectors.ts';
import type { CachedReply } from './store.ts';

let server: SpawnedServer;
const connections: Redis[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => {
  for (const redis of connections.splice(0)) redis.disconnect();
});
afterAll(() => server.stop());

async function connect(over: { timeoutMs?: number } = {}) {
  const redis = new Redis(server.url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  redis.on('error', () => {});
  const logger = createLogger({ service: 'test', level: 'silent' });
  const store = new RedisCache({ store: new SharedStore({ client: redis, logger }), ...over });
  connections.push(redis);
  await eventually(() => !store.degraded);
  return { redis, store };
}

const reply: CachedReply = {
  form: 'stream-with-usage',
  contentType: 'text/event-stream; charset=utf-8',
  storedAtMs: 1_700_000_000_123,
  body: Buffer.from([0, 255, 10, 13, 0xf0, 0x9f]),
};

describe('RedisCache', () => {
  it('gives another gateway the very same bytes', async () => {
    const [{ store: one }, { store: other }] = await Promise.all([connect(), connect()]);
    one.set('org', 'k1', reply, 60_000);
    await eventually(async () => expect(await other.get('org', 'k1')).toEqual(reply));
    expect(await other.get('org-2', 'k1')).toBeUndefined();
  });

  it('leaves it to the server to forget in time', async () => {
    const { store, redis } = await connect();
    store.set('org', 'k2', reply, 60_000);
    const leftMs = await redis.pttl('sluice:{org}:cache:k2');
    expect(leftMs).toBeGreaterThan(55_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });

  it('reads what another release wrote as nothing', async () => {
    const { store, redis } = await connect();
    for (const bytes of [
      '',
      'x',
      '\u0001',
      '\u0001\u0009________________',
      '\u0001\u0000________\uffff',
    ])
      for (const encoding of ['latin1', 'utf8'] as const) {
        await redis.set('sluice:{org}:cache:k3', Buffer.from(bytes, encoding));
        expect(await store.get('org', 'k3')).toBeUndefined();
      }
    expect(store.degraded).toBe(false);
  });

  it('is empty while Redis hangs, after one wait of its deadline, and back when Redis is', async () => {
    const { store } = await connect({ timeoutMs: 100 });
    store.set('org', 'k4', reply, 60_000);
    expect(await store.get('org', 'k4')).toEqual(reply);
    process.kill(server.pid, 'SIGSTOP');
    try {
      const startedAt = performance.now();
      expect(await store.get('org', 'k4')).toBeUndefined();
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(store.degraded).toBe(true);
      // From here on nobody waits: not at rest, and not for finding out either.
      for (let tenths = 0; tenths < 10; tenths++) {
        expect(await settlesAtOnce(store.get('org', 'k4'))).toBe(true);
        await delay(100);
      }
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
    await eventually(async () => expect(await store.get('org', 'k4')).toEqual(reply));
    expect(store.degraded).toBe(false);
  });

  it('is empty while Redis is dead', async () => {
    const { store, redis } = await connect();
    await server.kill();
    await eventually(() => redis.status !== 'ready');
    expect(await store.get('org', 'k5')).toBeUndefined();
    store.set('org', 'k5', reply, 60_000);
    await server.restart();
  });

  it('lets followers have the answer although it could not be stored', async () => {
    const { store } = await connect({ timeoutMs: 50 });
    const cache = new ReplyCache({
      vectors: new MemoryVectors({ dimensions: 4, bytesMax: 100_000 }),
      store,
      objectBytesMax: 1000,
      flightWaitMs: 5000,
    });
    process.kill(server.pid, 'SIGSTOP');
    try {
      const lookups = Array.from({ length: 20 }, () => cache.lookUp(exampleCacheRequest()));
      const first = await lookups[0];
      expect(first?.status).toBe('MISS');
      first?.fill?.keepBody(Buffer.from(JSON.stringify(exampleChatReply)), 'application/json');
      const all = await Promise.all(lookups);
      expect(all.map(({ status }) => status)).toEqual(['MISS', ...Array(19).fill('HIT')]);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  it('serves two gateways: what one asked the other hits, also as a stream', async () => {
    const [one, other] = (await Promise.all([connect(), connect()])).map(
      ({ store }) =>
        new ReplyCache({
          vectors: new MemoryVectors({ dimensions: 4, bytesMax: 100_000 }),
          store,
          objectBytesMax: 10_000,
          flightWaitMs: 1000,
        }),
    );
    const asked = exampleCacheRequest({ model: 'shared' });
    const body = Buffer.from(JSON.stringify(exampleChatReply));
    (await one?.lookUp(asked))?.fill?.keepBody(body, 'application/json');
    await eventually(async () => {
      const found = await other?.lookUp(asked);
      found?.fill?.release();
      expect(found?.reply).toMatchObject({ kind: 'body', body });
    });
    const streamed = await other?.lookUp({ ...asked, wantsStream: true });
    expect(streamed?.reply?.kind).toBe('stream');
  });

  it('asks once for many who come at the same time', async () => {
    const { store, redis } = await connect();
    const cache = new ReplyCache({
      vectors: new MemoryVectors({ dimensions: 4, bytesMax: 100_000 }),
      store,
      objectBytesMax: 10_000,
      flightWaitMs: 1000,
    });
    const asked = exampleCacheRequest({ model: 'many' });
    const body = Buffer.from(JSON.stringify(exampleChatReply));
    const before = await getsSoFar(redis);
    const lookups = Array.from({ length: 100 }, () => cache.lookUp(asked));
    (await lookups[0])?.fill?.keepBody(body, 'application/json');
    const all = await Promise.all(lookups);
    expect(all.filter(({ status }) => status === 'MISS')).toHaveLength(1);
    expect((await getsSoFar(redis)) - before).toBe(1);
    expect(cache.flightCount).toBe(0);
  });
});

async function getsSoFar(redis: Redis): Promise<number> {
  return Number(/cmdstat_get:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
}

/** Whether a promise needs nothing but turns of the microtask queue. */
async function settlesAtOnce(promise: Promise<unknown>): Promise<boolean> {
  const late = new Promise((resolve) => setImmediate(resolve, 'late'));
  return (await Promise.race([promise.then(() => 'at once'), late])) === 'at once';
}
