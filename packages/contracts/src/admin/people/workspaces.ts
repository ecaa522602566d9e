import { z } from 'zod';
import {
  descriptionField,
  flagField,
  instantText,
  metadataField,
  nameField,
  referenceField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { isReservedSlug } from '../../root-paths.ts';
import { anyKey, organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { commaList, pageQuery } from '../kernel/paging.ts';
import { rateLimits, shownRateLimit, shownUsageLimits, usageLimitsList } from '../limits/limits.ts';
import { organisationRoles, workspaceRoles } from './roles.ts';

const limits = {
  usage_limits: usageLimitsList.nullish(),
  rate_limits: rateLimits.nullish(),
};
const guardrails = z.array(referenceField).max(100);

const createWorkspaceBody = z.object({
  name: nameField,
  /** Ours: it stands before the slugs of its MCP servers, where paths of the gateway may not be hidden. */
  slug: slugField
    .refine((slug) => !isReservedSlug(slug), 'is taken by a path of the gateway')
    .optional(),
  description: descriptionField.nullish(),
  defaults: z
    .object({
      metadata: metadataField.nullish(),
      input_guardrails: guardrails.nullish(),
      output_guardrails: guardrails.nullish(),
    })
    .nullish(),
  users: z
    .array(
      z.union([
        z.uuid().transform((id) => ({ id, role: 'member' as const })),
        z.object({ id: z.uuid(), role: z.enum(workspaceRoles).default('member') }),
      ]),
    )
    .max(1000)
    .optional(),
  ...limits,
});

const updateWorkspaceBody = z.object({
  name: nameField.optional(),
  description: descriptionField.nullish(),
  defaults: z
    .object({
      metadata: metadataField.nullish(),
      input_guardrails: guardrails.nullish(),
      output_guardrails: guardrails.nullish(),
      user_api_key_config: referenceField.nullish(),
    })
    .nullish(),
  /** Ours: as on keys and providers. */
  reset_usage: flagField.optional(),
  ...limits,
});

const listWorkspacesQuery = z
  .object({
    name: z
      .string()
      .max(255)
      .meta({
        description: 'Only those with this text in their name, capitals as they are written.',
      })
      .optional(),
    exact_name: z.string().max(255).optional(),
    status: commaList(2)
      .pipe(z.array(z.enum(['active', 'archived'])))
      .optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));

const getWorkspaceQuery = z.object({
  name_format: z.enum(['display', 'plain']).default('display'),
});

const workspace = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    status: z.enum(['active', 'archived']),
    created_at: instantText,
    last_updated_at: instantText,
    defaults: z.object({
      metadata: z.record(z.string(), z.string()),
      is_default: z.int(),
      input_guardrails: z.array(z.string()),
      output_guardrails: z.array(z.string()),
      user_api_key_config: z.string().nullable(),
      object: z.literal('workspace'),
    }),
    usage_limits: z.array(shownUsageLimits),
    rate_limits: z.array(shownRateLimit),
    object: z.literal('workspace'),
  })
  .register(shapeNames, { name: 'Workspace' });

const member = z.object({
  object: z.literal('workspace-user'),
  id: z.uuid(),
  first_name: z.string(),
  last_name: z.string(),
  org_role: z.enum(organisationRoles),
  role: z.enum(workspaceRoles),
  created_at: instantText,
  last_updated_at: instantText,
  status: z.literal('active'),
  workspace_id: z.uuid(),
  email: z.email(),
  scopes: z.array(z.string()),
  settings: z.record(z.string(), z.unknown()).nullable(),
});

const workspaceDetail = workspace
  .extend({
    users: z.array(member),
  })
  .register(shapeNames, { name: 'WorkspaceWithUsers' });

export const workspacesEndpoints = {
  'workspaces.list': endpoint({
    operationId: 'getAdminWorkspaces',
    summary: 'List workspaces',
    tag: 'Workspaces',
    method: 'get',
    path: '/admin/workspaces',
    access: { keys: anyKey, scopes: ['workspaces.list'] },
    query: listWorkspacesQuery,
    answer: z.object({
      total: z.int(),
      object: z.literal('list'),
      data: z.array(workspace),
    }),
  }),
  'workspaces.create': endpoint({
    operationId: 'postAdminWorkspaces',
    summary: 'Make a workspace',
    tag: 'Workspaces',
    method: 'post',
    path: '/admin/workspaces',
    access: { keys: organisationKey, scopes: ['workspaces.create'] },
    audit: { resourceType: 'workspaces', action: 'create' },
    body: createWorkspaceBody,
    answer: workspace,
  }),
  'workspaces.read': endpoint({
    operationId: 'getAdminWorkspacesWorkspaceId',
    summary: 'Show one workspace',
    tag: 'Workspaces',
    method: 'get',
    path: '/admin/workspaces/{workspaceId}',
    access: { keys: anyKey, scopes: ['workspaces.read'] },
    query: getWorkspaceQuery,
    answer: workspaceDetail,
  }),
  'workspaces.update': endpoint({
    operationId: 'putAdminWorkspacesWorkspaceId',
    summary: 'Change a workspace: name, defaults, limits',
    tag: 'Workspaces',
    method: 'put',
    path: '/admin/workspaces/{workspaceId}',
    access: { keys: anyKey, scopes: ['workspaces.update'] },
    audit: { resourceType: 'workspaces', action: 'update' },
    body: updateWorkspaceBody.prefault({}),
    answer: nothing,
  }),
  'workspaces.delete': endpoint({
    operationId: 'deleteAdminWorkspacesWorkspaceId',
    summary: 'Delete a workspace',
    tag: 'Workspaces',
    method: 'delete',
    path: '/admin/workspaces/{workspaceId}',
    access: { keys: organisationKey, scopes: ['workspaces.delete'] },
    audit: { resourceType: 'workspaces', action: 'delete' },
    answer: nothing,
  }),
  'workspaces.emptyCache': endpoint({
    operationId: 'deleteAdminWorkspacesWorkspaceIdCache',
    summary: 'Forget the answers that are kept for a workspace',
    tag: 'Workspaces',
    method: 'delete',
    path: '/admin/workspaces/{workspaceId}/cache',
    access: { keys: anyKey, scopes: ['workspaces.update'] },
    audit: { resourceType: 'workspaces', action: 'update' },
    query: z.object({ namespace: z.string().min(1).max(1024).optional() }),
    answer: nothing,
    added: 'has gateways forget the answers that they keep',
  }),
};
