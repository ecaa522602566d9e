import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import { targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { createMapping, deleteMapping } from './operations.ts';
import { presentGroup, presentMapping } from './present.ts';
import { listGroups, listMappings } from './store.ts';

export const scimMappingOperations = {
  ...implementAll('scim-workspaces', {
    list: async (call, { query }) => {
      const workspace = await targetWorkspace(call.db, call.caller, {
        field: 'query.workspace_id',
        reference: query.workspace_id ?? query.workspaceId,
      });
      const filter = {
        workspaceId: workspace?.id,
        groupId: query.scim_group_id ?? query.scimGroupId,
        role: query.role,
      };
      const { rows, total } = await listMappings(
        call.db,
        call.caller.organisationId,
        filter,
        query,
      );
      return { mappings: rows.map(presentMapping), total_count: total };
    },
    create: async (call, { body }) => presentMapping(await createMapping(call, body)),
    delete: async (call) => {
      await deleteMapping(call, pathParameter(call, 'scimWorkspaceGroupId'));
      return { success: true };
    },
  }),
  ...implementAll('scim-groups', {
    list: async (call, { query }) => {
      const { organisationId } = call.caller;
      const { rows, total } = await listGroups(call.db, organisationId, query.search, query);
      return { groups: rows.map(presentGroup), total_count: total };
    },
  }),
};
