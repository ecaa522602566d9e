import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { withMore } from '../../kernel/http/shapes.ts';
import { changeWorkspaces, listWorkspaces } from '../registry/grants.ts';
import { deleteIntegration, listReachable, reachIntegration } from '../registry/integrations.ts';
import { switchOffers } from '../registry/offers.ts';
import { listOffers } from '../registry/offers-store.ts';
import { presentGlobalAccess } from '../registry/present.ts';
import type { RegistryParts } from '../registry/registry.ts';
import { fetchCard } from './fetch-card.ts';
import { agentKind } from './kind.ts';
import { agentRegistry, changeAgentIntegration, createAgentIntegration } from './operations.ts';
import {
  presentAgentIntegration,
  presentAgentIntegrationDetail,
  presentSkill,
  presentSkillCounts,
} from './present.ts';
import { skillType } from './skills.ts';

const named = (call: AdminRequest) => pathParameter(call, 'agentIntegrationId');
const reach = (call: AdminRequest) => reachIntegration(call, call.db, agentKind, named(call));

export function agentIntegrationOperations(parts: RegistryParts) {
  const registry = agentRegistry(parts);
  return {
    ...implementAll('agent-integrations', {
      list: async (call, { query }) => {
        const { rows, total } = await listReachable(call, agentKind, query);
        const data = rows.map(({ row, workspaceCount }) => ({
          ...presentAgentIntegration(row),
          workspaces_count: workspaceCount,
        }));
        return withMore(data, total, query);
      },
      create: (call, { body }) => createAgentIntegration(call, registry, body),
      'fetch-card': async (call, { body }) => {
        const card = await fetchCard(parts.fetch, body.url);
        await call.change(async ({ describe }) => describe({ detail: { url: body.url } }));
        return card;
      },
      read: async (call) => {
        const row = await reach(call);
        const global_workspace_access = presentGlobalAccess(row);
        return { ...presentAgentIntegrationDetail(row), global_workspace_access };
      },
      update: (call, { body }) => changeAgentIntegration(call, registry, named(call), body),
      delete: (call) => deleteIntegration(call, registry, named(call)),
    }),
    ...implementAll('agent-integrations.workspaces', {
      list: (call, { query }) => listWorkspaces(call, agentKind, named(call), query),
      update: (call, { body }) => changeWorkspaces(call, registry, named(call), body),
    }),
    ...implementAll('agent-integrations.skills', {
      list: async (call, { query }) => {
        const { id } = await reach(call);
        const found = await listOffers(call.db, agentKind, { integrationId: id }, {}, query);
        return {
          ...withMore(found.rows.map(presentSkill), found.total, query),
          counts: presentSkillCounts(found.counts),
        };
      },
      update: async (call, { body }) => {
        await switchOffers(call, registry, named(call), settingsOf(body.skills));
        return { success: true };
      },
    }),
  };
}

/** Skills as the tables of both registries know what is offered. */
export function settingsOf<S extends { id: string; enabled: boolean }>(skills: readonly S[]) {
  return skills.map(({ id, ...said }) => ({ type: skillType, name: id, ...said }));
}
