import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { referenceField } from './fields.ts';
import { pageQuery } from './paging.ts';

const scimWorkspaceMapping = z.object({
  id: z.string(),
  workspace_id: z.string(),
  scim_group: z.string(),
  role: z.enum(['admin', 'member', 'manager']),
  scim_group_id: z.string(),
});

export const scimEndpoints = {
  'scim-workspaces.list': endpoint({
    operationId: 'getScimWorkspaces',
    tag: 'Workspaces',
    method: 'get',
    path: '/scim/workspaces',
    query: z
      .object({
        workspace_id: referenceField.optional(),
        scim_group_id: z.string().optional(),
        role: z.enum(['admin', 'member', 'manager']).optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: z.object({
      mappings: z.array(
        z.object({
          id: z.string(),
          workspace_id: z.string(),
          scim_group: z.string(),
          scim_group_id: z.string(),
          role: z.enum(['admin', 'member', 'manager']),
        }),
      ),
      total_count: z.int(),
    }),
  }),
  'scim-workspaces.create': endpoint({
    operationId: 'postScimWorkspaces',
    tag: 'Workspaces',
    method: 'post',
    path: '/scim/workspaces',
    body: z.unknown(),
    answer: scimWorkspaceMapping,
  }),
  'scim-workspaces.delete': endpoint({
    operationId: 'deleteScimWorkspacesScimWorkspaceGroupId',
    tag: 'Workspaces',
    method: 'delete',
    path: '/scim/workspaces/{scimWorkspaceGroupId}',
    answer: z.object({
      success: z.boolean(),
    }),
  }),
  'scim-groups.list': endpoint({
    operationId: 'listScimGroups',
    tag: 'SCIM',
    method: 'get',
    path: '/scim/groups',
    query: z
      .object({
        search: z.string().optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: nothing,
  }),
};
