/** Headers in which callers say who they are; the key of the cache and circuits tell them apart. */
export const credentialNames: readonly string[] = [
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'proxy-authorization',
  'cookie',
];
