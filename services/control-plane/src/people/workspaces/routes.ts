import { GatewayError } from '@sluice/errors';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import {
  changeWorkspace,
  createWorkspace,
  deleteWorkspace,
  type ProvisionWorkspace,
  reachWorkspace,
} from './operations.ts';
import { presentWorkspace, presentWorkspaceDetail } from './present.ts';
import { listWorkspaces } from './store.ts';

export function workspaceOperations(provision: ProvisionWorkspace) {
  return implementAll('workspaces', {
    create: async (call, { body }) =>
      presentWorkspace(await createWorkspace(call, body, provision)),
    list: async (call, { query }) => {
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
    read: async (call, { query }) =>
      presentWorkspaceDetail(await reachWorkspace(call, call.db, idOf(call)), query.name_format),
    update: (call, { body }) => changeWorkspace(call, idOf(call), body),
    delete: (call) => deleteWorkspace(call, idOf(call)),
  });
}

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'workspaceId');
}
