import { MemoryCache } from '../cache/memory.ts';
import { RedisCache } from '../cache/redis.ts';
import { ReplyCache } from '../cache/reply-cache.ts';
import { MemoryVectors } from '../cache/semantic/memory-vectors.ts';
import { RedisVectors } from '../cache/semantic/redis-vectors.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { Env } from '../settings.ts';
import { type EmbedParts, QuestionEmbedder } from '../visit/embed-question.ts';

/** Who makes vectors of questions, as the operator's settings have it. */
export function createEmbedder(env: Env, parts: EmbedParts): QuestionEmbedder {
  return new QuestionEmbedder(
    {
      provider: env.SEMANTIC_CACHE_EMBEDDING_PROVIDER,
      model: env.SEMANTIC_CACHE_EMBEDDING_MODEL,
      apiKey: env.SEMANTIC_CACHE_EMBEDDING_API_KEY,
      url: env.SEMANTIC_CACHE_EMBEDDINGS_URL,
      dimensions: env.SEMANTIC_CACHE_EMBEDDING_DIMENSIONS,
      timeoutMs: env.SEMANTIC_CACHE_EMBEDDING_TIMEOUT,
    },
    parts,
  );
}

/** Kept answers. They have no life of their own: in memory they go with the process, else Redis has them. */
export function createCache(env: Env, shared: SharedStore | undefined): ReplyCache {
  const dimensions = env.SEMANTIC_CACHE_EMBEDDING_DIMENSIONS;
  const local = new MemoryVectors({
    dimensions,
    bytesMax: env.SEMANTIC_CACHE_MEMORY_BYTES_MAX,
  });
  return new ReplyCache({
    store:
      shared === undefined
        ? new MemoryCache({ bytesMax: env.CACHE_MEMORY_BYTES_MAX })
        : new RedisCache({ store: shared }),
    vectors:
      shared === undefined ? local : new RedisVectors({ dimensions }, { store: shared, local }),
    objectBytesMax: env.CACHE_OBJECT_BYTES_MAX,
    flightWaitMs: env.CACHE_FLIGHT_WAIT,
  });
}
