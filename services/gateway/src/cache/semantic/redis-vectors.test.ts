import { createLogger } from '@sluice/telemetry';
import {
  eventually,
  type SpawnedServer,
  startRedis,
  startVectorRedis,
  type VectorRedis,
} from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exampleVectors } from '../../../test/example-vectors.ts';
import { SharedStore } from '../../redis/shared-store.ts';
import { MemoryVectors } from './memory-vectors.ts';
import { RedisVectors } from './redis-vectors.ts';
import type { Partition } from './vector-index.ts';

/** None that can search can be had for tests: this one speaks its commands, the other cannot search. */
let searching: VectorRedis;
let plain: SpawnedServer;
const connections: Redis[] = [];
beforeAll(async () => {
  [searching, plain] = await Promise.all([startVectorRedis(), startRedis()]);
});
afterEach(() => {
  for (const redis of connections.splice(0)) redis.disconnect();
  searching.empty();
});
afterAll(() => Promise.all([searching.stop(), plain.stop()]));

const dimensions = 16;
const { unit, nearTo } = exampleVectors(dimensions);
const partition: Partition = { organisationId: 'org', key: 'ab12' };
const wanted = { atLeast: 0.95, countMax: 1 };

async function gateway(url = searching.url) {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  connections.push(redis);
  const store = new SharedStore({
    client: redis,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  const local = new MemoryVectors({ dimensions, bytesMax: 1_000_000 });
  const vectors = new RedisVectors({ dimensions, timeoutMs: 5000 }, { store, local });
  await eventually(() => !vectors.degraded);
  await vectors.near(partition, unit(), wanted);
  return { vectors, local };
}

describe('RedisVectors', () => {
  it('finds what another gateway has added, in its partition alone', async () => {
    const [one, other] = await Promise.all([gateway(), gateway()]);
    const vector = unit();
    one.vectors.add(partition, 'a', nearTo(vector, 0.97), 60_000);
    one.vectors.add(partition, 'b', nearTo(vector, 0.99), 60_000);
    one.vectors.add(partition, 'c', nearTo(vector, 0.9), 60_000);
    const found = await eventually(async () => {
      const near = await other.vectors.near(partition, vector, { atLeast: 0.95, countMax: 9 });
      expect(near.map(({ id }) => id)).toEqual(['b', 'a']);
      return near;
    });
    expect(found.map(({ similarity }) => similarity)).toEqual([
      expect.closeTo(0.99, 4),
      expect.closeTo(0.97, 4),
    ]);
    expect(await other.vectors.near(partition, vector, wanted)).toHaveLength(1);
    expect(await other.vectors.near({ ...partition, key: 'cd' }, vector, wanted)).toEqual([]);
    expect(one.local.size + other.local.size).toBe(0);
  });

  it('forgets what it is told to, and leaves the rest of time to the server', async () => {
    const { vectors } = await gateway();
    const [short, long] = [unit(), unit()];
    vectors.add(partition, 'short', short, 50);
    vectors.add(partition, 'long', long, 60_000);
    expect(await vectors.near(partition, long, wanted)).toHaveLength(1);
    vectors.forget(partition, 'long');
    expect(await vectors.near(partition, long, wanted)).toEqual([]);
    await eventually(async () => expect(await vectors.near(partition, short, wanted)).toEqual([]));
  });

  it('makes its index again when the server has forgotten it', async () => {
    const { vectors } = await gateway();
    searching.empty();
    const vector = unit();
    await eventually(async () => {
      await vectors.near(partition, vector, wanted);
      vectors.add(partition, 'a', vector, 60_000);
      expect(await vectors.near(partition, vector, wanted)).toHaveLength(1);
    });
  });

  it('leaves vectors to each gateway where the server cannot search', async () => {
    const { vectors, local } = await gateway(plain.url);
    const vector = unit();
    vectors.add(partition, 'a', vector, 60_000);
    expect(await vectors.near(partition, vector, wanted)).toHaveLength(1);
    expect(local.size).toBe(1);
    vectors.forget(partition, 'a');
    expect(await vectors.near(partition, vector, wanted)).toEqual([]);
  });

  it('holds nothing while the server is away', async () => {
    const away = await startVectorRedis();
    const { vectors } = await gateway(away.url);
    await away.stop();
    vectors.add(partition, 'a', unit(), 60_000);
    expect(await vectors.near(partition, unit(), wanted)).toEqual([]);
  });
});
