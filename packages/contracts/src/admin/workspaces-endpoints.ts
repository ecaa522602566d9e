import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import {
  createWorkspaceBody,
  getWorkspaceQuery,
  listWorkspacesQuery,
  updateWorkspaceBody,
} from './workspaces.ts';

const usageLimits = z.object({
  credit_limit: z.int(),
  type: z.enum(['cost', 'tokens']),
  alert_threshold: z.int(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
});

const rateLimits = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpd', 'rph', 'rpm']),
  value: z.int(),
});

const workspace = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: instantText,
  last_updated_at: instantText,
  defaults: z
    .object({
      metadata: z.record(z.string(), z.string()),
      is_default: z.int(),
      object: z.literal('workspace'),
    })
    .nullable(),
  usage_limits: z.array(usageLimits),
  rate_limits: z.array(rateLimits),
});

const workspaceList = z.object({
  total: z.int(),
  object: z.literal('list'),
  data: z.array(workspace),
});

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

const workspaceWithUsers = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: instantText,
  last_updated_at: instantText,
  defaults: z
    .object({
      metadata: z.record(z.string(), z.string()),
      is_default: z.int(),
      input_guardrails: z.array(z.string()),
      output_guardrails: z.array(z.string()),
      user_api_key_config: z.string().nullable(),
      object: z.literal('workspace'),
    })
    .nullable(),
  users: z.array(workspaceMember),
  usage_limits: z.array(usageLimits),
  rate_limits: z.array(rateLimits),
});

export const workspacesEndpoints = {
  'workspaces.list': endpoint({
    operationId: 'getAdminWorkspaces',
    tag: 'Workspaces',
    method: 'get',
    path: '/admin/workspaces',
    query: listWorkspacesQuery,
    answer: workspaceList,
  }),
  'workspaces.create': endpoint({
    operationId: 'postAdminWorkspaces',
    tag: 'Workspaces',
    method: 'post',
    path: '/admin/workspaces',
    body: createWorkspaceBody,
    answer: workspace,
  }),
  'workspaces.read': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceId',
    tag: 'Workspaces',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}',
    query: getWorkspaceQuery,
    answer: workspaceWithUsers,
  }),
  'workspaces.update': endpoint({
    operationId: 'putAdminWorkspacesWorkspaceId',
    tag: 'Workspaces',
    method: 'put',
    path: '/admin/workspaces/{workspaceId}',
    body: updateWorkspaceBody.prefault({}),
    answer: nothing,
  }),
  'workspaces.delete': endpoint({
    operationId: 'deleteAdminWorkspacesWorkspaceId',
    tag: 'Workspaces',
    method: 'delete',
    path: '/admin/workspaces/{workspaceId}',
    answer: nothing,
  }),
};
