import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import { headerPlan } from './upstream-headers.ts';

/** Why this gateway calls a server for nobody, as a sentence; undefined = it does. */
export function unserved(server: CompiledMcpServer): string | undefined {
  if (server.policyIsUnread)
    return 'The policy of this MCP server cannot be read by this release of the gateway: nothing of the server may be used.';
  if (server.isMerged) return undefined;
  const { unkept } = headerPlan(server);
  return unkept === undefined ? undefined : `This MCP server cannot be called: ${unkept}.`;
}
