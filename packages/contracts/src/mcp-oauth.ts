/**
 * What the control plane, as authorisation server, and the gateways, as resource servers of MCP, must agree on: addresses, scopes,
 * and what a grant is known by. Facts: RFC 8414, RFC 8707, RFC 9728, the authorization chapter of MCP.
 */

import { isReservedSlug } from './root-paths.ts';

/** What clients may ask for, and what it lets them do. Names of others are taken, too: clients have them in their settings. */
const rightsByScope = {
  mcp: ['list', 'read', 'call'],
  'mcp:read': ['list', 'read'],
  'mcp:write': ['list', 'read', 'call'],
  'mcp:servers:read': ['list'],
  'mcp:servers:*': ['list', 'read', 'call'],
  'mcp:tools:list': ['list'],
  'mcp:tools:call': ['call'],
  'mcp:*': ['list', 'read', 'call'],
} as const;

/**
 * `list`: every list, templates and `server/discover` with what it says of them. `read`: `resources/read`, `prompts/get`, completion,
 * subscriptions. `call`: `tools/call` and tasks. What opens and ends a session, pings and logs takes none.
 */
export type McpRight = (typeof rightsByScope)[keyof typeof rightsByScope][number];

export const mcpScopes: readonly string[] = Object.keys(rightsByScope);

/** What the documents name; the others mean parts of it. */
export const mcpScopesSupported: readonly string[] = ['mcp', 'mcp:read', 'mcp:write'];

/** Of a list with spaces between, as tokens have it; unknown ones give nothing. */
export function mcpRightsOf(scope: string): ReadonlySet<McpRight> {
  const byScope: Readonly<Record<string, readonly McpRight[]>> = rightsByScope;
  return new Set(
    scope.split(' ').flatMap((each) => (Object.hasOwn(byScope, each) ? (byScope[each] ?? []) : [])),
  );
}

/** A server as addresses name it. */
export interface McpAddress {
  /** Slug; undefined = the workspace of whoever calls. */
  readonly workspace: string | undefined;
  /** Slug. */
  readonly server: string;
}

const shape = /^\/(?:([\w-]{1,128})\/)?([\w-]{1,128})\/mcp$/;

/** Of a path `/{server}/mcp` or `/{workspace}/{server}/mcp`; undefined when it is neither. */
export function readMcpPath(path: string): McpAddress | undefined {
  const [, workspace, server] = shape.exec(path) ?? [];
  if (server === undefined || isReservedSlug(workspace ?? server)) return undefined;
  return { workspace, server };
}

export function mcpPath({ workspace, server }: McpAddress): string {
  return `${workspace === undefined ? '' : `/${workspace}`}/${server}/mcp`;
}

/** RFC 9728: where the document of the resource at this address is. The path is inserted after the well-known part, below the base. */
export function mcpResourceMetadataUrl(base: string, address: McpAddress): string {
  return `${base}/.well-known/oauth-protected-resource${mcpPath(address)}`;
}

/** How the answers 401 and 403 tell a client where to log in (RFC 9728 §5.1, RFC 6750 §3); nowhere, without a base. */
export function mcpChallenge(
  base: string | undefined,
  address: McpAddress,
  fault?: {
    readonly error: 'invalid_token' | 'insufficient_scope';
    readonly description?: string;
    /** What the call would take. */
    readonly scope?: string;
  },
  /** What to log in for; empty = nothing that we could name. */
  scope: string | undefined = fault?.scope ?? mcpScopesSupported[0],
): string {
  const parts: string[] = [];
  if (base !== undefined)
    parts.push(`resource_metadata="${mcpResourceMetadataUrl(base, address)}"`);
  if (fault !== undefined) {
    parts.unshift(`error="${fault.error}"`);
    if (fault.description !== undefined)
      parts.push(
        `error_description="${fault.description.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'")}"`,
      );
  }
  if (scope !== undefined && scope !== '') parts.push(`scope="${scope}"`);
  return `Bearer ${parts.join(', ')}`;
}

/** The type in the header of an access token (RFC 9068). */
export const mcpTokenType = 'at+jwt';

/** What a grant is hashed as, in place of a key. It is no well-formed key, so nobody can send it as one. */
export function mcpGrantSecret(grantId: string): string {
  return `mcp-grant:${grantId.toLowerCase()}`;
}
