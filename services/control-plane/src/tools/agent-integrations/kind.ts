import { invalidField } from '@sluice/errors';
import type { AgentIntegration, Prisma } from '../../generated/prisma/client.ts';
import { presentServer } from '../registry/present.ts';
import type { RegistryKind } from '../registry/registry-kind.ts';
import { hasHeaders, presentAgentIntegrationDetail, presentBehind } from './present.ts';

type Columns = Pick<Prisma.AgentIntegrationUncheckedCreateInput, 'agentCard' | 'protocol'>;

export interface AgentTypes {
  readonly integration: AgentIntegration;
  readonly created: Columns;
  readonly changed: Columns;
  readonly server: object;
  readonly noIntegration: never;
}

/** The registry of agents. */
export const agentKind: RegistryKind<AgentTypes> = {
  name: 'agent',
  tables: (db) => ({
    integrations: db.agentIntegration,
    integrationIds: db.agentIntegration,
    grants: db.agentIntegrationWorkspace,
    offers: db.agentSkill,
    offerNames: db.agentSkill,
    servers: db.agentServer,
    serverNames: db.agentServer,
    switches: db.agentServerSkill,
    userAccess: db.agentServerUserAccess,
  }),
  present: presentAgentIntegrationDetail,
  presentServer: (row) => ({ ...presentServer(row), ...presentBehind(row) }),
  authTypeOf(said, configurations) {
    if (!hasHeaders(configurations)) return said;
    if (said === 'none')
      throw invalidField(
        'body.auth_type',
        'cannot be none beside configurations.custom_headers, which are sent with every call: take them away with null, or say headers',
      );
    return 'headers';
  },
  // Agents have none.
  async forgetSignIns() {},
};
