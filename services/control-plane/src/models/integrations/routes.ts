import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { visibleLevel } from '../../kernel/tenancy/levels.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { usagesOf } from '../../limits/usage-limits/usages-of.ts';
import { changeModels, deleteModels } from './models.ts';
import {
  changeIntegration,
  changeWorkspaces,
  createIntegration,
  deleteIntegration,
  type IntegrationParts,
  tryIntegration,
} from './operations.ts';
import {
  presentGrant,
  presentIntegration,
  presentIntegrationDetail,
  presentModel,
} from './present.ts';
import { reachIntegration } from './reach.ts';
import { countGrants, listGrants, listIntegrations, listModels } from './store.ts';

export function integrationOperations(parts: IntegrationParts) {
  return {
    ...implementAll('integrations', {
      list: async (call, { query }) => {
        const workspace = await targetWorkspace(
          call.db,
          call.caller,
          namedWorkspace(undefined, call.query),
        );
        const { rows, total } = await listIntegrations(
          call.db,
          {
            organisationId: call.caller.organisationId,
            workspaceId: workspace?.id,
            type: visibleLevel(call, query.type),
            tags: query.tags,
          },
          query,
        );
        return listEnvelope(rows.map(presentIntegration), total);
      },
      create: (call, { body }) => createIntegration(call, body, parts),
      read: async (call) => {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        return presentIntegrationDetail(integration, await countGrants(call.db, integration.id));
      },
      update: (call, { body }) => changeIntegration(call, slugOf(call), body, parts),
      delete: (call) => deleteIntegration(call, slugOf(call), parts),
      test: (call) => tryIntegration(call, slugOf(call), parts),
    }),
    ...implementAll('integrations.models', {
      list: async (call, { query }) => {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        const { rows, total } = await listModels(call.db, integration.id, query);
        return { total, models: rows.map(presentModel) };
      },
      update: (call, { body }) => changeModels(call, slugOf(call), body, parts),
      delete: (call, { query }) => deleteModels(call, slugOf(call), query.slugs),
    }),
    ...implementAll('integrations.workspaces', {
      list: async (call, { query }) => {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        // A workspace does not learn who else uses an integration.
        const { rows, total } = await listGrants(
          call.db,
          integration,
          call.caller.workspaceId ?? call.caller.namedWorkspaceId,
          query,
        );
        const usages = await usagesOf(call.db, rows);
        return { total, workspaces: rows.map((row) => presentGrant(row, call.now, usages)) };
      },
      update: (call, { body }) => changeWorkspaces(call, slugOf(call), body),
    }),
  };
}

function slugOf(call: AdminRequest): string {
  return pathParameter(call, 'slug');
}
