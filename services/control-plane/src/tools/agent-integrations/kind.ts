import { invalidField } from '@sluice/errors';
import { presentServer } from '../registry/present.ts';
import type { RegistryKind } from '../registry/registry-kind.ts';
import type { AgentTypes } from './agent-types.ts';
import { hasHeaders, presentAgentIntegrationDetail, presentBehind } from './present.ts';

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
