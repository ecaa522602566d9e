import {
  createWorkspaceBody,
  getWorkspaceQuery,
  listWorkspacesQuery,
  updateWorkspaceBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { listEnvelope } from '../http/shapes.ts';
import { changeWorkspace, createWorkspace, deleteWorkspace, reachWorkspace } from './operations.ts';
import { presentWorkspace, presentWorkspaceDetail } from './present.ts';
import { listWorkspaces } from './store.ts';

export const workspaceOperations: readonly Operation[] = [
  {
    id: 'workspaces.create',
    method: 'post',
    path: '/admin/workspaces',
    handle: async (call) =>
      presentWorkspace(
        await createWorkspace(call, parseInput(createWorkspaceBody, call.body, 'body')),
      ),
  },
  {
    id: 'workspaces.list',
    method: 'get',
    path: '/admin/workspaces',
    async handle(call) {
      const query = parseInput(listWorkspacesQuery, call.query, 'query');
      const { workspaceId, organisationId } = call.caller;
      if (workspaceId !== undefined && query.status?.includes('archived'))
        throw new GatewayError('auth.wrong_key_type', {
          message: 'Archived workspaces are shown to organisation keys only.',
        });
      const { rows, total } = await listWorkspaces(
        call.db,
        { organisationId, onlyId: workspaceId },
        query,
      );
      return listEnvelope(rows.map(presentWorkspace), total);
    },
  },
  {
    id: 'workspaces.read',
    method: 'get',
    path: '/admin/workspaces/:workspaceId',
    async handle(call) {
      const query = parseInput(getWorkspaceQuery, call.query, 'query');
      return presentWorkspaceDetail(
        await reachWorkspace(call, call.db, call.params.workspaceId ?? ''),
        query.name_format,
      );
    },
  },
  {
    id: 'workspaces.update',
    method: 'put',
    path: '/admin/workspaces/:workspaceId',
    async handle(call) {
      await changeWorkspace(
        call,
        call.params.workspaceId ?? '',
        parseInput(updateWorkspaceBody.prefault({}), call.body, 'body'),
      );
      return {};
    },
  },
  {
    id: 'workspaces.delete',
    method: 'delete',
    path: '/admin/workspaces/:workspaceId',
    async handle(call) {
      await deleteWorkspace(call, call.params.workspaceId ?? '');
      return {};
    },
  },
];
