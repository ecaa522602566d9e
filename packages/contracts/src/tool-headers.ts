/**
 * Which headers calls of MCP servers and agents may carry that an admin names. Gateways leave the others out, and whoever
 * saves one is told. Names are in lower case.
 */

/** Headers that belong to one connection, never to the next. */
export const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'content-length',
]);

/** In what callers say who they are, or gateways who called. */
const whoCalls = [
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
  'x-user-claims',
  'x-user-jwt',
];

const neverToServers = new Set([
  ...hopByHop,
  ...whoCalls,
  'authorization',
  'last-event-id',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
  'origin',
  'referer',
]);

const neverToAgents = new Set([
  ...hopByHop,
  ...whoCalls,
  'accept-encoding',
  'content-encoding',
  'forwarded',
  'via',
]);

const neverPrefixes = ['x-service-', 'x-forwarded-', 'sec-', 'proxy-'];

const ofTransport = new Set([...hopByHop, 'content-type', 'accept', 'accept-encoding']);

/** Whether a header can say who calls: those of the transport and of MCP are said by whoever makes the call. */
export function saysWhoCalls(name: string): boolean {
  return !ofTransport.has(name) && !name.startsWith('mcp-');
}

function hasPrefix(name: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => name.startsWith(prefix));
}

/** What the transport itself says of a call is said by nobody else. */
const ofMcp = new Set([...hopByHop, 'content-type', 'accept', 'accept-encoding', 'last-event-id']);
const ofAgents = new Set([...hopByHop, 'accept-encoding']);

/** What of headers a kind of tool server takes. */
export interface ToolHeaders {
  /** Whether a caller's header may be copied, or be written by a copy. */
  readonly forwards: (name: string) => boolean;
  /** Whether an admin may say what it is. */
  readonly sets: (name: string) => boolean;
}

export const mcpHeaderNames: ToolHeaders = {
  forwards: (name) => !neverToServers.has(name) && !hasPrefix(name, ['mcp-', ...neverPrefixes]),
  sets: (name) => !ofMcp.has(name) && !name.startsWith('mcp-'),
};

/** `authorization` goes to an agent only where it is named. */
export const agentHeaderNames: ToolHeaders = {
  forwards: (name) =>
    /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
    !neverToAgents.has(name) &&
    !hasPrefix(name, neverPrefixes),
  sets: (name) => !ofAgents.has(name),
};
