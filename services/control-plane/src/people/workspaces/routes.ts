import { GatewayError } from '@sluice/errors';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { usagesOf } from '../../limits/usage-limits/usages-of.ts';
import { emptyCache } from './empty-cache.ts';
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
      presentWorkspace(
        { ...(await createWorkspace(call, body, provision)), userApiKeyConfig: null },
        call.now,
        new Map(),
      ),
    list: async (call, { query }) => {
      const { workspaceId, namedWorkspaceId, organisationId } = call.caller;
      if (workspaceId !== undefined && query.status?.includes('archived'))
        throw new GatewayError('auth.wrong_key_type', {
          message: 'Archived workspaces are shown to organisation keys only.',
        });
      const { rows, total } = await listWorkspaces(
        call.db,
        { organisationId, onlyId: workspaceId ?? namedWorkspaceId },
        query,
      );
      const usages = await usagesOf(call.db, rows);
      return listEnvelope(
        rows.map((row) => presentWorkspace(row, call.now, usages)),
        total,
      );
    },
    read: async (call, { query }) => {
      const workspace = await reachWorkspace(call, call.db, idOf(call));
      const usages = await usagesOf(call.db, [workspace]);
      return presentWorkspaceDetail(workspace, query.name_format, call.now, usages);
    },
    update: (call, { body }) => changeWorkspace(call, idOf(call), body),
    delete: (call) => deleteWorkspace(call, idOf(call)),
    emptyCache: (call, { query }) => emptyCache(call, idOf(call), query.namespace),
  });
}

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'workspaceId');
}
