import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';

/** Why this caller may not use a server at all; undefined = they may. */
export function mayUse({ source }: CompiledMcpServer, key: ResolvedKey): string | undefined {
  if (!source.enabled) return 'This MCP server is switched off.';
  const { userId } = key.source;
  const isAllowed = (userId === '' ? undefined : source.userAccess[userId]) ?? source.usersAllowed;
  return isAllowed ? undefined : 'You have no access to this MCP server.';
}
