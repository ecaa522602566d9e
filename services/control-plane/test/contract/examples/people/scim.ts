import { randomUUID } from 'node:crypto';
import { adminOnly, type Context, type Examples, made } from '../../example.ts';

const mapping = ({ workspaceSlug }: Pick<Context, 'workspaceSlug'>) => ({
  workspace_id: workspaceSlug,
  role: 'manager',
  scim_group_name: `Group ${randomUUID()}`,
});

export const examples: Examples = {
  'scim-workspaces.list': {
    callers: adminOnly,
    query: ({ workspaceSlug }) => ({
      workspace_id: workspaceSlug,
      scim_group_id: randomUUID(),
      role: 'admin',
    }),
  },
  'scim-workspaces.create': { callers: adminOnly, body: mapping },
  'scim-workspaces.delete': {
    callers: adminOnly,
    path: async (context) => {
      const { id = '' } = await made(context.admin, 'scim-workspaces.create', mapping(context));
      return [{ scimWorkspaceGroupId: id }];
    },
  },
  'scim-groups.list': { callers: adminOnly, query: () => ({ search: 'gro' }) },
};
