import { readMcpPath, type McpAddress as ServerAddress } from '@sluice/contracts';

/** Which MCP server a request is for, as its path says. */
export interface McpAddress extends ServerAddress {
  /** As it was called: `/weather/mcp`. */
  readonly path: string;
}

/** Undefined = the path is none of an MCP server. Costs a look at four bytes where it is another. */
export function mcpAddress(url: string): McpAddress | undefined {
  const query = url.indexOf('?');
  const end = query < 0 ? url.length : query;
  if (!url.endsWith('/mcp', end)) return undefined;
  const path = query < 0 ? url : url.slice(0, query);
  const address = readMcpPath(path);
  return address === undefined ? undefined : { ...address, path };
}
