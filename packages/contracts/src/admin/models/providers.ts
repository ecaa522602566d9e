import { z } from 'zod';
import {
  flagField,
  instantField,
  instantText,
  nameField,
  referenceField,
  slugField,
  workspaceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { removeQuery, workspaceQuery } from '../documents/configs.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery, queryFlag, tagsQuery } from '../kernel/paging.ts';
import {
  rateLimitOrList,
  shownRateLimit,
  shownUsageLimits,
  usageLimits,
  usageLimitsChange,
} from '../limits/limits.ts';

const shared = {
  note: z.string().max(2000).nullish(),
  usage_limits: usageLimits.nullish(),
  rate_limits: rateLimitOrList.nullish(),
  expires_at: instantField.nullish(),
};

const createProviderBody = z.object({
  name: nameField,
  /** The integration's slug, despite the name; its UUID works too. */
  integration_id: referenceField,
  slug: slugField.optional(),
  workspace_id: workspaceField.nullish(),
  ...shared,
});

const updateProviderBody = z.object({
  name: nameField.optional(),
  reset_usage: flagField.optional(),
  ...shared,
  usage_limits: usageLimitsChange.nullish(),
});

const listProvidersQuery = workspaceQuery
  .extend({ tags: tagsQuery.optional() })
  .and(pageQuery({ default: 50, max: 1000 }));

/** The configurations are published for callers inside the system, which no key is: it changes nothing. */
const readProviderQuery = workspaceQuery.extend({ include_configurations: queryFlag.optional() });

/** A provider as it is shown. It has no `id` here: callers name it by its slug. */
const provider = z
  .object({
    name: z.string(),
    integration_id: z.string(),
    note: z.string().nullable(),
    status: z.enum(['active', 'exhausted', 'expired']),
    usage_limits: shownUsageLimits.optional(),
    rate_limits: z.array(shownRateLimit).nullable(),
    reset_usage: z.number().nullable(),
    created_at: instantText,
    last_updated_at: instantText,
    last_reset_at: instantText.nullable(),
    slug: z.string(),
    expires_at: instantText.optional(),
    tags: z.record(z.string(), z.string()).nullable(),
    object: z.literal('provider'),
  })
  .register(shapeNames, { name: 'Provider' });

const providerReference = z.object({ id: z.uuid(), slug: z.string() });

// Providers were called virtual keys once; either name of the scope will do.
export const providersEndpoints = {
  'providers.list': endpoint({
    operationId: 'getProviders',
    summary: 'List the providers of a workspace',
    tag: 'Providers',
    method: 'get',
    path: '/providers',
    access: { keys: anyKey, scopes: ['providers.list', 'virtual_keys.list'] },
    query: listProvidersQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(provider),
    }),
  }),
  'providers.create': endpoint({
    operationId: 'postProviders',
    summary: 'Add a provider to a workspace, from a connection',
    tag: 'Providers',
    method: 'post',
    path: '/providers',
    access: { keys: anyKey, scopes: ['providers.create', 'virtual_keys.create'] },
    audit: { resourceType: 'providers', action: 'create' },
    body: createProviderBody,
    answer: providerReference,
  }),
  'providers.read': endpoint({
    operationId: 'getProvidersSlug',
    summary: 'Show one provider of a workspace',
    tag: 'Providers',
    method: 'get',
    path: '/providers/{slug}',
    access: { keys: anyKey, scopes: ['providers.read', 'virtual_keys.read'] },
    query: readProviderQuery,
    answer: provider,
  }),
  'providers.update': endpoint({
    operationId: 'putProvidersSlug',
    summary: 'Change a provider of a workspace',
    tag: 'Providers',
    method: 'put',
    path: '/providers/{slug}',
    access: { keys: anyKey, scopes: ['providers.update', 'virtual_keys.update'] },
    audit: { resourceType: 'providers', action: 'update' },
    query: workspaceQuery,
    body: updateProviderBody,
    answer: providerReference,
  }),
  'providers.delete': endpoint({
    operationId: 'deleteProvidersSlug',
    summary: 'Delete a provider of a workspace',
    tag: 'Providers',
    method: 'delete',
    path: '/providers/{slug}',
    access: { keys: anyKey, scopes: ['providers.delete', 'virtual_keys.delete'] },
    audit: { resourceType: 'providers', action: 'delete' },
    query: removeQuery,
    answer: nothing,
  }),
};
