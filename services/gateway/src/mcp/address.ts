import { isReservedSlug } from '@sluice/contracts';

/** Which MCP server a request is for, as its path says. */
export interface McpAddress {
  /** Undefined = the credential's. */
  readonly workspace: string | undefined;
  readonly server: string;
  /** As it was called: `/weather/mcp`. */
  readonly path: string;
}

const shape = /^\/(?:([\w-]{1,128})\/)?([\w-]{1,128})\/mcp$/;

/** Undefined = the path is none of an MCP server. Costs a look at four bytes where it is another. */
export function mcpAddress(url: string): McpAddress | undefined {
  const query = url.indexOf('?');
  const end = query < 0 ? url.length : query;
  if (!url.endsWith('/mcp', end)) return undefined;
  const path = query < 0 ? url : url.slice(0, query);
  const [, workspace, server] = shape.exec(path) ?? [];
  if (server === undefined || isReservedSlug(workspace ?? server)) return undefined;
  return { workspace, server, path };
}
