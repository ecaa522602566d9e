import { presentServer } from '../registry/present.ts';
import type { RegistryKind } from '../registry/registry-kind.ts';
import type { McpTypes } from './mcp-types.ts';
import { presentBehind, presentMcpIntegration, presentMerged } from './present.ts';

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
