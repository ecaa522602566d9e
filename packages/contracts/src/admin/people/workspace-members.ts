import { z } from 'zod';
import { emailField, emailText, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import { organisationRoles, workspaceRoles } from './roles.ts';

const role = z.enum(workspaceRoles);

export const workspaceMember = z
  .object({
    object: z.literal('workspace-user'),
    id: z.uuid(),
    first_name: z.string(),
    last_name: z.string(),
    org_role: z.enum(organisationRoles),
    role,
    created_at: instantText,
    last_updated_at: instantText,
    status: z.literal('active'),
    workspace_id: z.uuid(),
    email: emailText,
    /** What a user key of theirs can do at most. */
    scopes: z.array(z.string()),
    settings: z.record(z.string(), z.unknown()).nullable(),
  })
  .register(shapeNames, { name: 'WorkspaceMember' });

export const addMembersBody = z
  .object({
    users: z
      .array(z.object({ id: z.uuid().toLowerCase(), role: role.default('member') }))
      .max(1000)
      .default([]),
  })
  .prefault({});

export const workspaceMembersEndpoints = {
  'workspace-members.list': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceIdUsers',
    summary: 'List the members of a workspace',
    tag: 'Workspaces > Members',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}/users',
    access: { keys: anyKey, scopes: ['workspace_users.list'] },
    query: z
      .object({ role: role.optional(), email: emailField.optional() })
      .and(pageQuery({ default: 50, max: 1000 })),
    answer: z.object({
      total: z.int(),
      object: z.literal('list'),
      data: z.array(workspaceMember),
    }),
  }),
  'workspace-members.create': endpoint({
    operationId: 'postAdminWorkspacesWorkspaceIdUsers',
    summary: 'Make users members of a workspace',
    tag: 'Workspaces > Members',
    method: 'post',
    path: '/admin/workspaces/{workspaceId}/users',
    access: { keys: anyKey, scopes: ['workspace_users.create'] },
    audit: { resourceType: 'workspace_users', action: 'create' },
    body: addMembersBody,
    answer: nothing,
  }),
  'workspace-members.read': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceIdUsersUserId',
    summary: 'Show one member of a workspace',
    tag: 'Workspaces > Members',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    access: { keys: anyKey, scopes: ['workspace_users.read'] },
    answer: workspaceMember,
  }),
  'workspace-members.update': endpoint({
    operationId: 'putAdminWorkspacesWorkspaceIdUsersUserId',
    summary: 'Change a member’s role',
    tag: 'Workspaces > Members',
    method: 'put',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    access: { keys: anyKey, scopes: ['workspace_users.update'] },
    audit: { resourceType: 'workspace_users', action: 'update' },
    body: z.object({ role: role.optional() }).prefault({}),
    answer: nothing,
  }),
  'workspace-members.delete': endpoint({
    operationId: 'deleteAdminWorkspacesWorkspaceIdUsersUserId',
    summary: 'Take a member from a workspace',
    tag: 'Workspaces > Members',
    method: 'delete',
    path: '/admin/workspaces/{workspaceId}/users/{userId}',
    access: { keys: anyKey, scopes: ['workspace_users.delete'] },
    audit: { resourceType: 'workspace_users', action: 'delete' },
    answer: nothing,
  }),
};
