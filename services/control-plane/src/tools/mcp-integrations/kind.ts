import type { McpIntegration, McpServer, Prisma } from '../../generated/prisma/client.ts';
import { presentServer } from '../registry/present.ts';
import type { RegistryKind } from '../registry/registry-kind.ts';
import { presentBehind, presentMcpIntegration, presentMerged } from './present.ts';

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
  | 'newCapabilities'
  | 'onDrift'
  | 'policy'
>;

type OwnColumns = 'transport' | 'newCapabilities' | 'onDrift' | 'policy';

export interface McpTypes {
  readonly integration: McpIntegration;
  readonly created: Pick<Prisma.McpIntegrationUncheckedCreateInput, OwnColumns>;
  readonly changed: Columns;
  readonly server: Pick<McpServer, 'members' | 'prefix' | 'exposure' | 'policy'>;
  readonly noIntegration: null;
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
  presentServer: (row) => ({ ...presentServer(row), ...presentBehind(row), ...presentMerged(row) }),
  authTypeOf: (said) => said,
  async forgetSignIns(db, integrationId) {
    await db.mcpConnection.deleteMany({ where: { server: { integrationId } } });
    await db.mcpIntegrationToken.deleteMany({ where: { integrationId } });
  },
};
