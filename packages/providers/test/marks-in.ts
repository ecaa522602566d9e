/** Each mark of the prompt cache in a body, by its path there, with its life where the vendor has several. */
export function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    if (key === 'cache_control' || key === 'cachePoint')
      return [`${path} ${(inner as { ttl?: string }).ttl ?? '5m'}`];
    return key === 'prompt_cache_breakpoint' ? [path] : marksIn(inner, at);
  });
}
