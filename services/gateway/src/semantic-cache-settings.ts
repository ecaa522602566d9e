import { decimal, integer, optionalSecret, optionalText, url } from '@sluice/env';

/** Who makes vectors of questions where a config does not say, and what is kept of them. */
export const semanticCacheSettings = {
  SEMANTIC_CACHE_EMBEDDING_PROVIDER: optionalText(
    'who makes vectors of questions: a saved provider that each workspace has, as `@slug`, or the name of a provider, with the key below',
  ),
  SEMANTIC_CACHE_EMBEDDING_MODEL: optionalText('its embedding model'),
  SEMANTIC_CACHE_EMBEDDING_API_KEY: optionalSecret('key for a provider that is named without @'),
  SEMANTIC_CACHE_EMBEDDINGS_URL: url(
    'where that provider is called instead of at its own address; `/embeddings` is appended',
  ),
  SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: integer('numbers in a vector', 1536, 2, 8192),
  SEMANTIC_CACHE_EMBEDDING_TIMEOUT: integer(
    'ms a request waits for the vector of its question before it goes on without',
    2_000,
    1,
    60_000,
  ),
  SEMANTIC_CACHE_SIMILARITY_THRESHOLD: decimal(
    'cosine from which on two questions are one, where a config does not say',
    0.95,
    0.5,
    1,
  ),
  SEMANTIC_CACHE_MEMORY_BYTES_MAX: integer(
    'bytes of vectors in memory, where Redis has none',
    128 * 1024 * 1024,
    0,
  ),
};
