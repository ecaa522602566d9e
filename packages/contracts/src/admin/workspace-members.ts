import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import { pageQuery } from './paging.ts';

const workspaceMember = z.object({
  object: z.literal('workspace-user'),
  id: z.uuid(),
  first_name: z.string(),
  last_name: z.string(),
  org_role: z.enum(['admin', 'member', 'owner']),
  role: z.enum(['admin', 'member', 'manager']),
  created_at: instantText,
  last_updated_at: instantText,
  status: z.literal('active'),
  workspace_id: z.uuid(),
  email: z.email(),
  scopes: z.array(z.string()),
  settings: z.record(z.string(), z.unknown()).nullable(),
});

const workspaceMemberList = z.object({
  total: z.int(),
  object: z.literal('list'),
  data: z.array(workspaceMember),
});

export const workspaceMembersEndpoints = {
  'workspace-members.list': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceIdUsers',
    tag: 'Workspaces > Members',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}/users',
    query: z
      .object({
        role: z.enum(['admin', 'manager', 'member']).optional(),
        email: z.string().optional(),
      })
      .and(pageQuery({ default: 50, max: 1000 })),
    answer: workspaceMemberList,
  }),
  'workspace-members.create': endpoint({
    operationId: 'postAdminWorkspacesWorkspaceIdUsers',
    tag: 'Workspaces > Members',
    method: 'post',
    path: '/admin/workspaces/{workspaceId}/users',
    body: z
      .object({
        users: z
          .array(
            z.object({
              id: z.uuid().optional(),
              role: z.enum(['admin', 'member', 'manager']).optional(),
            }),
          )
          .optional(),
      })
      .prefault({}),
    answer: nothing,
  }),
  'workspace-members.read': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceIdUsersUserId',
    tag: 'Workspaces > Members',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    answer: workspaceMember,
  }),
  'workspace-members.update': endpoint({
    operationId: 'putAdminWorkspacesWorkspaceIdUsersUserId',
    tag: 'Workspaces > Members',
    method: 'put',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    body: z
      .object({
        role: z.enum(['admin', 'member', 'manager']).optional(),
      })
      .prefault({}),
    answer: nothing,
  }),
  'workspace-members.delete': endpoint({
    operationId: 'deleteAdminWorkspacesWorkspaceIdUsersUserId',
    tag: 'Workspaces > Members',
    method: 'delete',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    answer: nothing,
  }),
};
