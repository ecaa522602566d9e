import { GatewayError } from '@sluice/errors';
import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminCall, Operation } from '../../kernel/http/operation.ts';
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

export function workspaceOperations(provision: ProvisionWorkspace): readonly Operation[] {
  return [
    implement('workspaces.create', async (call, { body }) =>
      presentWorkspace(await createWorkspace(call, body, provision)),
    ),
    implement('workspaces.list', async (call, { query }) => {
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
    }),
    implement('workspaces.read', async (call, { query }) =>
      presentWorkspaceDetail(await reachWorkspace(call, call.db, idOf(call)), query.name_format),
    ),
    implement('workspaces.update', async (call, { body }) => {
      await changeWorkspace(call, idOf(call), body);
      return {};
    }),
    implement('workspaces.delete', async (call) => {
      await deleteWorkspace(call, idOf(call));
      return {};
    }),
  ];
}

function idOf(call: AdminCall): string {
  return pathParameter(call, 'workspaceId');
}
