import { defineSettings } from '@sluice/env';
import { createLogger } from '@sluice/telemetry';
import { type SpawnedServer, startRedis } from '@sluice/testkit';
import { connectRedis } from '../src/redis/connect-redis.ts';
import { readRedisPlace, redisSettings } from '../src/redis/redis-settings.ts';
import { SharedStore } from '../src/redis/shared-store.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

/** A Redis of the test's own, and what each gateway at it has. */
export interface SharedStores {
  readonly server: SpawnedServer;
  /** Of one gateway more. */
  open(): SharedStore;
  stop(): Promise<void>;
}

export async function startSharedStores(): Promise<SharedStores> {
  const server = await startRedis();
  const stores: SharedStore[] = [];
  return {
    server,
    open() {
      const place = readRedisPlace(
        defineSettings({ Redis: redisSettings }).readEnv({ REDIS_URL: server.url }),
      );
      if (place === undefined) throw new Error('there is no address');
      const store = new SharedStore({ client: connectRedis(place, logger), logger });
      stores.push(store);
      return store;
    },
    async stop() {
      await Promise.all(stores.map((store) => store.close()));
      await server.stop();
    },
  };
}
