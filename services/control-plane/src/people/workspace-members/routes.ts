import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import type { ProvisionUserKey } from '../api-keys/provision-user-key.ts';
import { reachWorkspace } from '../workspaces/operations.ts';
import { presentMember } from '../workspaces/present-member.ts';
import { addMembers, changeMember, deleteMember, reachMember } from './operations.ts';
import { listMembers } from './store.ts';

export function workspaceMemberOperations(provision: ProvisionUserKey) {
  return implementAll('workspace-members', {
    list: async (call, { query }) => {
      const workspace = await workspaceOf(call);
      const { rows, total } = await listMembers(call.db, workspace.id, query, query);
      return listEnvelope(
        rows.map((row) => presentMember(workspace, row)),
        total,
      );
    },
    create: (call, { body }) =>
      addMembers(call, pathParameter(call, 'workspaceId'), body, provision),
    read: async (call) => {
      const workspace = await workspaceOf(call);
      return presentMember(
        workspace,
        await reachMember(call.db, workspace, pathParameter(call, 'userId')),
      );
    },
    update: (call, { body }) =>
      changeMember(
        call,
        pathParameter(call, 'workspaceId'),
        pathParameter(call, 'userId'),
        body.role,
      ),
    delete: (call) =>
      deleteMember(call, pathParameter(call, 'workspaceId'), pathParameter(call, 'userId')),
  });
}

function workspaceOf(call: AdminRequest) {
  return reachWorkspace(call, call.db, pathParameter(call, 'workspaceId'));
}
