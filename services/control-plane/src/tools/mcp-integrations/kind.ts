import type { McpIntegration, Prisma } from '../../generated/prisma/client.ts';
import type { RegistryKind } from '../registry/registry-kind.ts';
import { presentMcpIntegration } from './present.ts';

type Columns = Pick<
  Prisma.McpIntegrationUncheckedUpdateInput,
  | 'transport'
  | 'serverName'
  | 'serverVersion'
  | 'protocolVersion'
  | 'capabilityFlags'
  | 'syncStatus'
  | 'lastSyncedAt'
  | 'syncError'
>;

export interface McpTypes {
  readonly integration: McpIntegration;
  readonly created: { readonly transport: string };
  readonly changed: Columns;
}

/** The registry of MCP servers. */
export const mcpKind: RegistryKind<McpTypes> = {
  name: 'mcp',
  tables: (db) => ({
    integrations: db.mcpIntegration,
    integrationIds: db.mcpIntegration,
    grants: db.mcpIntegrationWorkspace,
    offers: db.mcpCapability,
    offerNames: db.mcpCapability,
    servers: db.mcpServer,
    serverNames: db.mcpServer,
    switches: db.mcpServerCapability,
    userAccess: db.mcpServerUserAccess,
  }),
  present: presentMcpIntegration,
  async forgetSignIns(db, integrationId) {
    await db.mcpConnection.deleteMany({ where: { server: { integrationId } } });
  },
};
