import { cardBehindGateway, type SealedAddresses } from '@sluice/a2a';
import { agentServerUrl } from '@sluice/contracts';
import type { AgentCard } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { isServiceKey } from '../../kernel/access/caller.ts';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { withMore } from '../../kernel/http/shapes.ts';
import type { AgentTypes } from '../agent-integrations/agent-types.ts';
import { agentKind } from '../agent-integrations/kind.ts';
import {
  agentAuthType,
  presentBehind,
  presentSkill,
  presentSkillCounts,
} from '../agent-integrations/present.ts';
import { settingsOf } from '../agent-integrations/routes.ts';
import { switchServerOffers } from '../registry/offers.ts';
import { listOffers } from '../registry/offers-store.ts';
import { presentServer } from '../registry/present.ts';
import type { RegistryParts } from '../registry/registry.ts';
import {
  createServer,
  deleteServer,
  listReachableServers,
  reachServer,
  renameServer,
} from '../registry/servers.ts';
import type { FoundServer } from '../registry/tables.ts';
import { changeAccess, listAccess } from '../registry/user-access.ts';

const named = (call: AdminRequest) => pathParameter(call, 'agentServerId');
const reach = (call: AdminRequest) => reachServer(call, call.db, agentKind, named(call));

export function agentServerOperations({ sealedAddresses }: RegistryParts) {
  return {
    ...implementAll('agent-servers', {
      list: async (call, { query }) => {
        const { rows, total } = await listReachableServers(call, agentKind, query);
        return { data: rows.map((row) => presentAgentServer(row, call.toolBase)), total };
      },
      create: (call, { body }) => createServer(call, agentKind, body, body.agent_integration_id),
      read: async (call) => presentAgentServer(await reach(call), call.toolBase),
      update: (call, { body }) => renameServer(call, agentKind, named(call), body),
      delete: (call) => deleteServer(call, agentKind, named(call)),
    }),
    ...implementAll('agent-servers.skills', {
      list: async (call, { query }) => {
        const { id, integrationId } = await reach(call);
        const of = { integrationId, serverId: id };
        const found = await listOffers(call.db, agentKind, of, {}, query);
        const data = found.rows.map((row) => ({
          ...presentSkill(row),
          integration_enabled: isServiceKey(call.caller) ? row.integrationEnabled : null,
        }));
        return { ...withMore(data, found.total, query), counts: presentSkillCounts(found.counts) };
      },
      update: async (call, { body }) => {
        await switchServerOffers(call, agentKind, named(call), settingsOf(body.skills));
        return { success: true };
      },
    }),
    ...implementAll('agent-servers.user-access', {
      list: async (call, { query }) => listAccess(call, agentKind, await reach(call), query),
      update: async (call, { body }) => {
        await changeAccess(call, agentKind, named(call), body);
        return { success: true };
      },
    }),
    ...implementAll('agent-servers.card', {
      read: (call) => readCard(call, sealedAddresses),
    }),
  };
}

/** As the gateway shows the card that is stored; it asks the agent for the present one. */
async function readCard(call: AdminRequest, sealed: SealedAddresses): Promise<AgentCard> {
  const server = await reach(call);
  const card = server.integration.agentCard as AgentCard | null;
  if (card === null)
    throw new GatewayError('admin.not_found', { message: 'No card is known of this agent.' });
  const of = { integrationId: server.integrationId, serverId: server.id };
  const every = { currentPage: 0, pageSize: Number.MAX_SAFE_INTEGER };
  const skills = await listOffers(call.db, agentKind, of, {}, every);
  const closed = new Set(skills.rows.filter((row) => !row.enabled).map((row) => row.name));
  return cardBehindGateway(card, {
    registeredUrl: server.integration.url,
    gatewayUrl: agentServerUrl(call.toolBase, server.slug),
    subPathOf: (address) => sealed.seal(server.id, address),
    isSkillEnabled: (id) => !closed.has(id),
    allowsPush: true,
    keyHeader: 'x-service-api-key',
  }) as AgentCard;
}

function presentAgentServer(row: FoundServer<AgentTypes>, baseUrl: string) {
  return {
    ...presentServer(row),
    ...presentBehind(row),
    auth_type: agentAuthType(row.integration),
    url: agentServerUrl(baseUrl, row.slug),
  };
}
