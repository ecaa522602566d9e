import {
  createIntegrationBody,
  deleteIntegrationModelsQuery,
  listIntegrationsQuery,
  updateIntegrationBody,
  updateIntegrationModelsBody,
  updateIntegrationWorkspacesBody,
} from '@sluice/contracts';
import { visibleLevel } from '../authorisation/levels.ts';
import type { AdminCall, Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { listEnvelope } from '../http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import {
  changeIntegration,
  changeModels,
  changeWorkspaces,
  createIntegration,
  deleteIntegration,
  deleteModels,
  type IntegrationParts,
  reachIntegration,
} from './operations.ts';
import {
  presentGrant,
  presentIntegration,
  presentIntegrationDetail,
  presentModel,
} from './present.ts';
import { countGrants, listGrants, listIntegrations, listModels } from './store.ts';

export function integrationOperations(parts: IntegrationParts): readonly Operation[] {
  return [
    {
      id: 'integrations.list',
      method: 'get',
      path: '/integrations',
      async handle(call) {
        const query = parseInput(listIntegrationsQuery, call.query, 'query');
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
    },
    {
      id: 'integrations.create',
      method: 'post',
      path: '/integrations',
      handle: (call) =>
        createIntegration(call, parseInput(createIntegrationBody, call.body, 'body'), parts),
    },
    {
      id: 'integrations.read',
      method: 'get',
      path: '/integrations/:slug',
      async handle(call) {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        return presentIntegrationDetail(integration, await countGrants(call.db, integration.id));
      },
    },
    {
      id: 'integrations.update',
      method: 'put',
      path: '/integrations/:slug',
      async handle(call) {
        await changeIntegration(
          call,
          slugOf(call),
          parseInput(updateIntegrationBody, call.body, 'body'),
          parts,
        );
        return {};
      },
    },
    {
      id: 'integrations.delete',
      method: 'delete',
      path: '/integrations/:slug',
      async handle(call) {
        await deleteIntegration(call, slugOf(call));
        return {};
      },
    },
    {
      id: 'integrations.models.list',
      method: 'get',
      path: '/integrations/:slug/models',
      async handle(call) {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        const { rows, total } = await listModels(call.db, integration.id);
        return { total, models: rows.map(presentModel) };
      },
    },
    {
      id: 'integrations.models.update',
      method: 'put',
      path: '/integrations/:slug/models',
      async handle(call) {
        await changeModels(
          call,
          slugOf(call),
          parseInput(updateIntegrationModelsBody, call.body, 'body'),
        );
        return {};
      },
    },
    {
      id: 'integrations.models.delete',
      method: 'delete',
      path: '/integrations/:slug/models',
      async handle(call) {
        const query = parseInput(deleteIntegrationModelsQuery, call.query, 'query');
        await deleteModels(call, slugOf(call), query.slugs);
        return {};
      },
    },
    {
      id: 'integrations.workspaces.list',
      method: 'get',
      path: '/integrations/:slug/workspaces',
      async handle(call) {
        const integration = await reachIntegration(call, call.db, slugOf(call));
        const grants = await listGrants(call.db, integration.id);
        const { workspaceId } = call.caller;
        // A workspace does not learn who else uses an integration.
        const shown =
          workspaceId === undefined
            ? grants
            : grants.filter((grant) => grant.workspaceId === workspaceId);
        return { total: shown.length, workspaces: shown.map(presentGrant) };
      },
    },
    {
      id: 'integrations.workspaces.update',
      method: 'put',
      path: '/integrations/:slug/workspaces',
      async handle(call) {
        await changeWorkspaces(
          call,
          slugOf(call),
          parseInput(updateIntegrationWorkspacesBody, call.body, 'body'),
        );
        return {};
      },
    },
  ];
}

function slugOf(call: AdminCall): string {
  return call.params.slug ?? '';
}
