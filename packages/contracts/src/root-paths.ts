/**
 * The one list of what stands first in paths at the gateway's root: its routes
 * are made of it, and no server may have such a slug. Beside what is answered
 * there is what may be one day, and what proxies in front like to take.
 */
export const rootSegment = {
  api: 'v1',
  registry: 'v0.1',
  health: 'health',
  metrics: 'metrics',
  docs: 'docs',
  prices: 'model-configs',
  oauth: 'oauth',
  wellKnown: '.well-known',
} as const;

const keptFree = [
  'admin',
  'agent',
  'agents',
  'api',
  'assets',
  'auth',
  'callback',
  'console',
  'favicon.ico',
  'login',
  'logout',
  'mcp',
  'messages',
  'otel',
  'public',
  'ready',
  'robots.txt',
  'scim',
  'sse',
  'static',
  'status',
];

const reserved: ReadonlySet<string> = new Set([...Object.values(rootSegment), ...keptFree]);

/** Whether a slug would hide, or be hidden by, another path of the gateway; in whatever case it is written. */
export function isReservedSlug(slug: string): boolean {
  const folded = slug.toLowerCase();
  return reserved.has(folded) || /^v\d+(?:[a-z0-9.]*)$/.test(folded);
}
