import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { withMore } from '../../kernel/http/shapes.ts';
import { changeWorkspaces, listWorkspaces } from '../registry/grants.ts';
import { listReachable, reachIntegration } from '../registry/integrations.ts';
import { switchOffers } from '../registry/offers.ts';
import { listOffers } from '../registry/offers-store.ts';
import { presentGlobalAccess } from '../registry/present.ts';
import type { RegistryParts } from '../registry/registry.ts';
import { mcpKind } from './kind.ts';
import {
  changeMcpIntegration,
  createMcpIntegration,
  deleteMcpIntegration,
  mcpRegistry,
  testIntegration,
} from './operations.ts';
import { approvePins, listPins } from './pins/operations.ts';
import {
  presentCapability,
  presentCounts,
  presentMcpIntegration,
  presentMetadata,
} from './present.ts';

const named = (call: AdminRequest) => pathParameter(call, 'mcpIntegrationId');

export function mcpIntegrationOperations(parts: RegistryParts) {
  const registry = mcpRegistry(parts);
  const reach = (call: AdminRequest) => reachIntegration(call, call.db, mcpKind, named(call));
  return {
    ...implementAll('mcp-integrations', {
      list: async (call, { query }) => {
        const { rows, total } = await listReachable(call, mcpKind, query);
        const data = rows.map(({ row, workspaceCount }) => ({
          ...presentMcpIntegration(row),
          workspaces_count: workspaceCount,
        }));
        return withMore(data, total, query);
      },
      create: (call, { body }) => createMcpIntegration(call, registry, body),
      read: async (call) => {
        const row = await reach(call);
        return { ...presentMcpIntegration(row), global_workspace_access: presentGlobalAccess(row) };
      },
      update: (call, { body }) => changeMcpIntegration(call, registry, named(call), body),
      delete: (call) => deleteMcpIntegration(call, registry, named(call)),
      test: (call) => testIntegration(call, registry, named(call)),
    }),
    ...implementAll('mcp-integrations.workspaces', {
      list: (call, { query }) => listWorkspaces(call, mcpKind, named(call), query),
      update: (call, { body }) => changeWorkspaces(call, registry, named(call), body),
    }),
    ...implementAll('mcp-integrations.capabilities', {
      list: async (call, { query }) => {
        const { id } = await reach(call);
        const found = await listOffers(call.db, mcpKind, { integrationId: id }, query, query);
        return {
          ...withMore(found.rows.map(presentCapability), found.total, query),
          counts: presentCounts(found.counts),
        };
      },
      update: async (call, { body }) => {
        await switchOffers(call, registry, named(call), body.capabilities);
        return { success: true };
      },
    }),
    ...implementAll('mcp-integrations.pins', {
      list: (call, { query }) => listPins(call, named(call), query),
      update: async (call, { body }) => {
        await approvePins(call, registry, named(call), body);
        return { success: true };
      },
    }),
    ...implementAll('mcp-integrations.metadata', {
      read: async (call) => presentMetadata(await reach(call)),
    }),
  };
}
