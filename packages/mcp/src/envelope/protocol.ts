/** Revisions with `initialize`, sessions and requests of servers, newest first. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Revisions whose requests stand alone, newest first. */
export const modernVersions: readonly string[] = ['2026-07-28'];

/** What callers may speak, newest first. */
export const supportedVersions: readonly string[] = [...modernVersions, ...legacyVersions];

/** What upstreams may speak beside: HTTP+SSE. */
export const sseTransportVersion = '2024-11-05';

/** What a request without `MCP-Protocol-Version` speaks, outside of a session. */
export const assumedVersion = '2025-03-26';

/** Revisions are dates: those from 2026-07-28 on have no `initialize`, known to us or not. */
export function isModernVersion(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= '2026-07-28';
}

/** Names in `_meta` that the specification keeps for itself. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const;

/** The member of `params` that says what a method is about. */
export const subjectFields: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
  ['notifications/resources/updated', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/result', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** The methods whose subject a modern request repeats in `Mcp-Name`. */
export const namedMethods: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** What 2026-07-28 has taken out: nobody answers them there, whoever may ask what. `initialize` is answered, as a probe. */
export const removedMethods: ReadonlySet<string> = new Set([
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);
