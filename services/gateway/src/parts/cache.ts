import { MemoryCache } from '../cache/memory.ts';
import { RedisCache } from '../cache/redis.ts';
import { ReplyCache } from '../cache/reply-cache.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';

/** Kept answers. They have no life of their own: in memory they go with the process, else Redis has them. */
export function createCache(env: Env, shared: SharedStore | undefined): ReplyCache {
  return new ReplyCache({
    store:
      shared === undefined
        ? new MemoryCache({ bytesMax: env.CACHE_MEMORY_BYTES_MAX })
        : new RedisCache({ store: shared }),
    objectBytesMax: env.CACHE_OBJECT_BYTES_MAX,
    flightWaitMs: env.CACHE_FLIGHT_WAIT,
  });
}
