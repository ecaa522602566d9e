import { z } from 'zod';
import {
  flagField,
  headersField,
  hostField,
  instantField,
  instantText,
  nameField,
  workspaceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { removeQuery, workspaceQuery } from '../documents/configs.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import {
  rateLimitOrList,
  shownRateLimit,
  shownUsageLimits,
  usageLimits,
  usageLimitsChange,
} from '../limits/limits.ts';
import { secretMapping, secretMappings } from './secret-mappings.ts';

/** A deployment of Azure OpenAI: which models it serves under which name. */
const deployments = z
  .array(
    z.object({
      apiVersion: z.string().min(1).max(30),
      deploymentName: z.string().min(1).max(255),
      alias: z.string().max(255).optional(),
      is_default: z.boolean().optional(),
    }),
  )
  .max(100);

/** Settings of single providers that are sent beside the other fields. */
const text = z.string().max(16_384).nullish();
const providerFields = {
  apiVersion: text,
  resourceName: text,
  deploymentName: text,
  deploymentConfig: deployments.nullish(),
  azureAuthMode: text,
  azureEntraTenantId: text,
  azureEntraClientId: text,
  azureEntraClientSecret: text,
  azureManagedClientId: text,
  awsAuthType: text,
  awsRegion: text,
  awsAccessKeyId: text,
  awsSecretAccessKey: text,
  awsRoleArn: text,
  awsExternalId: text,
  vertexAuthType: text,
  vertexRegion: text,
  vertexProjectId: text,
  vertexServiceAccountJson: z.record(z.string(), z.unknown()).nullish(),
  workersAiAccountId: text,
  openaiOrganization: text,
  openaiProject: text,
  huggingfaceBaseUrl: text,
  snowflakeAccount: text,
  customHost: hostField.nullish(),
  customHeaders: headersField.nullish(),
};
export type VirtualKeyProviderFields = z.infer<z.ZodObject<typeof providerFields>>;
export const virtualKeyProviderFields = Object.keys(
  providerFields,
) as (keyof VirtualKeyProviderFields)[];

const shared = {
  key: z.string().min(1).max(16_384).nullish(),
  note: z.string().max(2000).nullish(),
  usage_limits: usageLimits.nullish(),
  rate_limits: rateLimitOrList.nullish(),
  expires_at: instantField.nullish(),
  secret_mappings: secretMappings.nullish(),
  ...providerFields,
};

const createVirtualKeyBody = z.object({
  name: nameField,
  /** Of the catalogue; older spellings are known too. */
  provider: z.string().min(1).max(128),
  workspace_id: workspaceField.nullish(),
  ...shared,
});

const updateVirtualKeyBody = z.object({
  name: nameField.optional(),
  reset_usage: flagField.optional(),
  ...shared,
  usage_limits: usageLimitsChange.nullish(),
});

const virtualKey = z
  .object({
    name: z.string(),
    note: z.string().nullable(),
    status: z.enum(['active', 'exhausted', 'expired']),
    usage_limits: shownUsageLimits.optional(),
    reset_usage: z.number().nullable(),
    created_at: instantText,
    last_updated_at: instantText,
    last_reset_at: instantText.nullable(),
    slug: z.string(),
    provider: z.string(),
    integration_id: z.string(),
    masked_key: z.string(),
    /** The provider's settings under the names they are sent with; what is secret appears as `masked_<name>`. */
    model_config: z.record(z.string(), z.unknown()),
    rate_limits: z.array(shownRateLimit).nullable(),
    expires_at: instantText.optional(),
    secret_mappings: z.array(secretMapping),
    object: z.literal('virtual-key'),
  })
  .register(shapeNames, { name: 'VirtualKey' });

// Providers were called virtual keys once; either name of the scope will do.
export const virtualKeysEndpoints = {
  'virtual-keys.list': endpoint({
    operationId: 'getVirtualKeys',
    summary: 'List providers under their older name',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'get',
    path: '/virtual-keys',
    access: { keys: anyKey, scopes: ['providers.list', 'virtual_keys.list'] },
    query: workspaceQuery.and(pageQuery({ default: 50, max: 1000 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(virtualKey),
    }),
  }),
  'virtual-keys.create': endpoint({
    operationId: 'postVirtualKeys',
    summary: 'Add a provider with its credentials in one call',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'post',
    path: '/virtual-keys',
    access: { keys: anyKey, scopes: ['providers.create', 'virtual_keys.create'] },
    audit: { resourceType: 'virtual_keys', action: 'create' },
    body: createVirtualKeyBody,
    answer: z.object({ success: z.literal(true), data: z.object({ slug: z.string() }) }),
  }),
  'virtual-keys.read': endpoint({
    operationId: 'getVirtualKeysSlug',
    summary: 'Show one provider under its older name',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'get',
    path: '/virtual-keys/{slug}',
    access: { keys: anyKey, scopes: ['providers.read', 'virtual_keys.read'] },
    query: workspaceQuery,
    answer: virtualKey,
  }),
  'virtual-keys.update': endpoint({
    operationId: 'putVirtualKeysSlug',
    summary: 'Change a provider under its older name',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'put',
    path: '/virtual-keys/{slug}',
    access: { keys: anyKey, scopes: ['providers.update', 'virtual_keys.update'] },
    audit: { resourceType: 'virtual_keys', action: 'update' },
    query: workspaceQuery,
    body: updateVirtualKeyBody,
    answer: nothing,
  }),
  'virtual-keys.delete': endpoint({
    operationId: 'deleteVirtualKeysSlug',
    summary: 'Delete a provider under its older name',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'delete',
    path: '/virtual-keys/{slug}',
    access: { keys: anyKey, scopes: ['providers.delete', 'virtual_keys.delete'] },
    audit: { resourceType: 'virtual_keys', action: 'delete' },
    query: removeQuery,
    answer: nothing,
  }),
};
