import type { McpIntegration, McpServer, Prisma } from '../../generated/prisma/client.ts';

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
