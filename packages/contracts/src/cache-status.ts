/** What the cache did, as the response header, records and logs say it. */
export const cacheStatuses = [
  'HIT',
  'SEMANTIC HIT',
  'MISS',
  'SEMANTIC MISS',
  'REFRESH',
  'DISABLED',
] as const;
export type CacheStatus = (typeof cacheStatuses)[number];
