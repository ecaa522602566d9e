import type {
  AgentIntegration,
  AgentServer,
  McpIntegration,
  McpServer,
} from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

/**
 * The registry of MCP servers and the registry of agents are built alike:
 *
 * - an integration says where something is and how it is called; it belongs to
 *   the organisation or to one workspace
 * - grants open an integration of the organisation to workspaces
 * - offers are what is there to be used: capabilities of an MCP server, skills of an agent
 * - a server puts an integration into a workspace, under a slug that callers use;
 *   switches turn offers off there, user access says who may call it
 *
 * Below a server nothing can be widened, only narrowed.
 */
export type RegistryKind = 'mcp' | 'agent';

interface IntegrationRows {
  mcp: McpIntegration;
  agent: AgentIntegration;
}
interface ServerRows {
  mcp: McpServer;
  agent: AgentServer;
}
export type IntegrationRow<K extends RegistryKind = RegistryKind> = IntegrationRows[K];
export type ServerRow<K extends RegistryKind = RegistryKind> = ServerRows[K];

interface Tables {
  integrations: Database['mcpIntegration'];
  grants: Database['mcpIntegrationWorkspace'];
  offers: Database['mcpCapability'];
  servers: Database['mcpServer'];
  switches: Database['mcpServerCapability'];
  userAccess: Database['mcpServerUserAccess'];
}

/**
 * The tables of a registry. Column by column those of agents are those of MCP
 * servers, but for the few that only one of them has; Prisma's types do not
 * show that, so one stands for both here.
 */
export function tablesOf(db: Database, kind: RegistryKind): Tables {
  if (kind === 'mcp')
    return {
      integrations: db.mcpIntegration,
      grants: db.mcpIntegrationWorkspace,
      offers: db.mcpCapability,
      servers: db.mcpServer,
      switches: db.mcpServerCapability,
      userAccess: db.mcpServerUserAccess,
    };
  return {
    integrations: db.agentIntegration,
    grants: db.agentIntegrationWorkspace,
    offers: db.agentSkill,
    servers: db.agentServer,
    switches: db.agentServerSkill,
    userAccess: db.agentServerUserAccess,
  } as unknown as Tables;
}
