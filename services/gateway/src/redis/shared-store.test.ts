import { setTimeout as delay } from 'node:timers/promises';
import { defineSettings } from '@sluice/env';
import { createLogger } from '@sluice/telemetry';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from './connect-redis.ts';
import { readRedisPlace, redisSettings } from './redis-settings.ts';
import { sharedScript } from './shared-script.ts';
import { type SharedPart, SharedStore, type SharingPart } from './shared-store.ts';

let server: SpawnedServer;
let observer: Redis;
const stores: SharedStore[] = [];
beforeAll(async () => {
  server = await startRedis();
  observer = new Redis(server.url, { retryStrategy: () => 50 });
  observer.on('error', () => {});
});
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())));
afterAll(async () => {
  observer.disconnect();
  await server.stop();
});

/** @param log gets who goes on alone, and who shares again */
function open(log: string[] = [], url = server.url) {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const note = (kind: string) => (facts: { parts?: string[] }) =>
    void (facts.parts && log.push(`${facts.parts.join(' and ')} ${kind}`));
  const said: string[] = [];
  const hear = (kind: string) => (facts: { parts?: string[] }, text: string) => {
    note(kind)(facts);
    if (facts.parts === undefined) said.push(text);
  };
  Object.assign(logger, { error: note('alone'), info: hear('again'), warn: hear('away') });
  const place = readRedisPlace(
    defineSettings({ Redis: redisSettings }).readEnv({ REDIS_URL: url }),
  );
  if (place === undefined) throw new Error('there is no address');
  const client = connectRedis(place, logger);
  const store = new SharedStore({ client, logger });
  stores.push(store);
  const share = (part: Partial<SharingPart> = {}) =>
    store.share({ name: 'part', deadlineMs: 200, ...part });
  return { store, share, client, said };
}

const usable = (part: SharedPart) => eventually(() => part.isUsable);
const get = (part: SharedPart, key = 'sluice:{org}:x') => part.call(key, (redis) => redis.get(key));

/** While it is stopped, the server takes what is sent and answers nothing. */
async function whileHanging(run: () => Promise<void>): Promise<void> {
  process.kill(server.pid, 'SIGSTOP');
  try {
    await run();
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
}

async function callsOf(command: string): Promise<number> {
  const stats = await observer.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

describe('SharedStore', () => {
  it('is usable once Redis has answered, and refuses calls until then', async () => {
    const { share } = open();
    const part = share();
    expect(part.isUsable).toBe(false);
    await expect(get(part)).rejects.toThrow('not asked');
    await usable(part);
    expect(await get(part)).toBeNull();
  });

  it('is shared by all parts once the first try is over', async () => {
    const { store, share } = open();
    const parts = ['one', 'two', 'three'].map((name) => share({ name }));
    await store.firstTry(10_000);
    expect(parts.map(({ isUsable }) => isUsable)).toEqual([true, true, true]);
  });

  it('is not waited for when it is away, and not for long when it hangs', async () => {
    const { store: away } = open([], 'redis://127.0.0.1:1');
    await away.firstTry(60_000);
    await whileHanging(async () => {
      const { store, share } = open();
      const part = share();
      const startedAt = performance.now();
      await store.firstTry(300);
      expect(performance.now() - startedAt).toBeGreaterThan(250);
      expect(part.isUsable).toBe(false);
    });
  });

  it('lets one request wait for its deadline, and no other while Redis hangs', async () => {
    const log: string[] = [];
    const { share } = open(log);
    const part = share();
    await usable(part);
    await whileHanging(async () => {
      const startedAt = performance.now();
      await expect(get(part)).rejects.toThrow('in time');
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      for (let tenths = 0; tenths < 15; tenths++) {
        expect(part.isUsable).toBe(false);
        await delay(100);
      }
    });
    await usable(part);
    await eventually(() => expect(log).toEqual(['part alone', 'part again']));
  });

  it('asks a Redis that hangs nothing more until it has answered what was asked', async () => {
    const { share, client } = open();
    const parts = [share({ name: 'a' }), share({ name: 'b' })];
    await Promise.all(parts.map(usable));
    await whileHanging(async () => {
      await Promise.allSettled(parts.map((part) => get(part)));
      await delay(2000);
      expect(client instanceof Redis && waitingCommands(client)).toBe(2);
    });
    await Promise.all(parts.map(usable));
  });

  it('has one prober for all that wait, however many ask', async () => {
    const { share } = open();
    const part = share();
    await usable(part);
    const failing = sharedScript('return redis.error_reply("NO")');
    const before = await callsOf('set');
    await Promise.allSettled(
      Array.from({ length: 50 }, () => part.call('k', (redis) => failing.run(redis, ['k'], []))),
    );
    for (let call = 0; call < 1000; call++) await get(part).catch(() => {});
    await usable(part);
    expect((await callsOf('set')) - before).toBe(1);
  });

  it('keeps parts with less patience apart from those with more', async () => {
    const { share } = open();
    const [quick, patient] = [
      share({ name: 'quick', deadlineMs: 50 }),
      share({ name: 'patient', deadlineMs: 5000 }),
    ];
    await Promise.all([usable(quick), usable(patient)]);
    await whileHanging(async () => {
      await expect(get(quick)).rejects.toThrow('in time');
      expect([quick.degraded, patient.degraded]).toEqual([true, false]);
    });
    await usable(quick);
  });

  it('sends no more than so many calls of a part at once', async () => {
    const { share } = open();
    const part = share({ callsMax: 3 });
    await usable(part);
    await whileHanging(async () => {
      const calls = Array.from({ length: 10 }, () => get(part));
      expect(part.isUsable).toBe(false);
      expect(part.degraded).toBe(false);
      const outcomes = await Promise.allSettled(calls);
      const refused = outcomes.filter(
        (outcome) => outcome.status === 'rejected' && /not asked/.test(String(outcome.reason)),
      );
      expect(refused).toHaveLength(7);
    });
    await usable(part);
  });

  it('goes on when Redis dies and returns, also without its scripts', async () => {
    const { share, store } = open();
    const part = share();
    await usable(part);
    const add = sharedScript<number>('return redis.call("INCR", KEYS[1])');
    const key = 'sluice:{org}:count';
    const count = () => part.call(key, (redis) => add.run(redis, [key], []));
    expect(await count()).toBe(1);
    await server.kill();
    await eventually(() => store.isDegraded('part'));
    await server.restart();
    await usable(part);
    // A fresh server, and it had to be sent the script anew.
    expect(await count()).toBe(1);
    const evals = await callsOf('eval');
    for (let call = 0; call < 10; call++) await count();
    expect(await callsOf('eval')).toBe(evals);
  });

  it('says of each outage that Redis is away, and that it is back', async () => {
    const { share, said } = open();
    const part = share();
    await usable(part);
    for (const _ of ['first', 'second']) {
      said.length = 0;
      await server.kill();
      await eventually(() => expect(said).toContain('redis cannot be used at the moment'));
      await server.restart();
      await eventually(() => expect(said.at(-1)).toBe('redis can be used again'));
    }
  });

  it('neither asks nor connects again once it is closed', async () => {
    const { share, store } = open();
    const part = share();
    await usable(part);
    await server.kill();
    await eventually(() => part.degraded);
    await store.close();
    await server.restart();
    await delay(1500);
    const clients = String(await observer.client('LIST'))
      .trim()
      .split('\n');
    expect(clients).toHaveLength(1);
    expect(await callsOf('set')).toBe(0);
  });

  it('closes in time while Redis hangs', async () => {
    const { share, store } = open();
    await usable(share());
    await whileHanging(async () => {
      const startedAt = performance.now();
      await store.close();
      expect(performance.now() - startedAt).toBeLessThan(10_000);
    });
  });
});

function waitingCommands(redis: Redis): number {
  return (redis as unknown as { commandQueue: { length: number } }).commandQueue.length;
}
