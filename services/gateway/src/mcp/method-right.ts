import type { McpRight } from '@sluice/contracts';

const none = new Set(['initialize', 'ping', 'logging/setLevel']);
const reading = new Set([
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
]);
const listing = new Set(['server/discover', 'resources/templates/list']);

/** What a request takes of a token's rights; undefined = nothing. A method that nobody knows may do anything, so it takes the most. */
export function rightOf(method: string): McpRight | undefined {
  if (none.has(method)) return undefined;
  if (listing.has(method) || /^(?:tools|resources|prompts)\/list$/.test(method)) return 'list';
  return reading.has(method) ? 'read' : 'call';
}

/** The scope to ask for, for whoever lacks a right (RFC 6750 §3.1). */
export function scopeFor(right: McpRight): string {
  return right === 'call' ? 'mcp' : 'mcp:read';
}
