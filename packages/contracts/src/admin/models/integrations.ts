import { z } from 'zod';
import {
  descriptionField,
  flagField,
  headersField,
  hostField,
  instantText,
  nameField,
  referenceField,
  slugField,
  tagsField,
  workspaceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { workspaceQuery } from '../documents/configs.ts';
import { anyKey, byLevel } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { cappedListQuery, commaList, pageQuery, tagsQuery } from '../kernel/paging.ts';
import { rateLimits, shownRateLimit, shownUsageLimits, usageLimits } from '../limits/limits.ts';
import { secretMapping, secretMappings } from './secret-mappings.ts';

const pem = z.string().max(1_048_576).nullish();

/** Settings of the provider: those that every provider has, and its own, which the catalogue knows. */
const configurations = z
  .looseObject({
    custom_host: hostField.nullish(),
    custom_headers: headersField.nullish(),
    /** Base addresses that requests may name in place of `custom_host`; all that is below them, too. */
    allowed_custom_hosts: z.array(hostField).max(50).nullish(),
    /** Ours: of lists of what stays at the provider, all of them or what the caller's workspace made. */
    lists: z.enum(['all', 'own']).nullish(),
    /** Ours: certificates, and the key to them. */
    tls_ca: pem,
    tls_cert: pem,
    tls_key: pem,
    anthropic_inspect_stream_for_overloaded_error: z
      .union([z.boolean(), z.enum(['true', 'false'])])
      .nullish(),
  })
  .refine((value) => Object.keys(value).length <= 100, 'may hold 100 entries at most');

/** Settings that every provider has. */
export const generalSettings: readonly string[] = Object.keys(configurations.shape);

/** Settings of single providers that are published; they are taken of all. */
export const publishedSettings: readonly string[] = [
  'openai_organization',
  'openai_project',
  'azure_auth_mode',
  'azure_resource_name',
  'azure_deployment_config',
  'azure_entra_tenant_id',
  'azure_entra_client_id',
  'azure_entra_client_secret',
  'azure_managed_client_id',
  'azure_workload_client_id',
  'azure_workload_tenant_id',
  'azure_foundry_url',
  'azure_api_version',
  'azure_deployment_name',
  'aws_auth_type',
  'aws_region',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_role_arn',
  'aws_external_id',
  'amzn_sagemaker_custom_attributes',
  'amzn_sagemaker_target_model',
  'amzn_sagemaker_target_variant',
  'amzn_sagemaker_target_container_hostname',
  'amzn_sagemaker_inference_id',
  'amzn_sagemaker_enable_explanations',
  'amzn_sagemaker_inference_component',
  'amzn_sagemaker_session_id',
  'amzn_sagemaker_model_name',
  'vertex_auth_type',
  'vertex_region',
  'vertex_project_id',
  'vertex_service_account_json',
  'workers_ai_account_id',
  'huggingface_base_url',
  'snowflake_account',
];

const factor = z.number().min(0).nullish();
const pricedTokens = [
  'request_token',
  'response_token',
  'cache_read_input_token',
  'cache_write_input_token',
  'cache_read_audio_input_token',
  'request_audio_token',
  'response_audio_token',
  'reasoning_token',
  'prediction_accepted_token',
  'prediction_rejected_token',
  'request_image_token',
  'response_image_token',
  'request_text_token',
  'response_text_token',
  'cache_read_image_input_token',
  'cache_read_text_input_token',
  'cache_write_text_input_token',
  'cache_write_image_input_token',
] as const;

/** Factors on the price book's prices; a missing one inherits `default`, an unknown one is a fault. */
const pricingAdjustments = z.strictObject({
  multiplier: z
    .strictObject({
      default: factor,
      ...Object.fromEntries(pricedTokens.map((name) => [name, factor])),
      image: z.strictObject({ default: factor }).nullish(),
      additional_units: z.record(z.string().max(128), factor).nullish(),
    })
    .optional(),
});

const shared = {
  key: z.string().min(1).max(16_384).nullish(),
  description: descriptionField.nullish(),
  configurations: configurations.nullish(),
  secret_mappings: secretMappings.nullish(),
  pricing_adjustments: pricingAdjustments.nullish(),
  tags: tagsField.nullish(),
};

const createIntegrationBody = z.object({
  name: nameField,
  ai_provider_id: z.string().min(1).max(128),
  slug: slugField.optional(),
  workspace_id: workspaceField.nullish(),
  create_default_provider: z.boolean().default(true),
  default_provider_slug: slugField.optional(),
  ...shared,
});

const updateIntegrationBody = z.object({ name: nameField.optional(), ...shared });

const listIntegrationsQuery = workspaceQuery
  .extend({
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    tags: tagsQuery.optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));

/** In cents a token. The bound keeps it a plain decimal. */
const price = z.object({ price: z.number().min(0).max(1e15) });

/** Prices of every kind of token; a kind without one costs what the plain input or output does. */
const pricedKinds = z.object(
  Object.fromEntries(pricedTokens.map((name) => [name, price.optional()])) as Record<
    (typeof pricedTokens)[number],
    z.ZodOptional<typeof price>
  >,
);
const unitName = z.string().max(128);
const payAsYouGo = pricedKinds.extend({
  additional_units: z.record(unitName, price).optional(),
  /** By quality and size, each with its `default`. */
  image: z.record(unitName, z.record(unitName, price)).optional(),
});
const executionMode = z.object({
  pricing_config: z.object({ pay_as_you_go: payAsYouGo }).optional(),
  /** By the names of `context_tier_map`. */
  context_tiers: z
    .record(unitName, z.object({ pricing_config: z.object({ pay_as_you_go: payAsYouGo }) }))
    .optional(),
});
const pricingConfig = z.object({
  pay_as_you_go: payAsYouGo,
  /** Ours: exact prices of batches; what is left out there is half. */
  batch_config: pricedKinds.optional(),
  /** Ours: prices by region and service tier, in the form of operators' price files. */
  custom_pricing: z
    .object({
      context_tier_map: z.record(z.string().regex(/^\d{1,12}$/), unitName).optional(),
      regions: z
        .record(
          z.string().max(1024),
          z.object({ execution_modes: z.record(unitName, executionMode) }),
        )
        .optional(),
    })
    .optional(),
});

const updateIntegrationModelsBody = z.object({
  models: z
    .array(
      z.object({
        slug: z.string().min(1).max(255),
        enabled: z.boolean(),
        is_custom: z.boolean().nullish(),
        is_finetune: z.boolean().nullish(),
        base_model_slug: z.string().max(255).nullish(),
        configurations: z
          .object({ custom_host: hostField.nullish(), custom_headers: headersField.nullish() })
          .nullish(),
        pricing_config: pricingConfig
          .extend({ type: z.literal('static').default('static') })
          .nullish(),
      }),
    )
    .max(2000),
  allow_all_models: z.boolean().optional(),
  /**
   * Ours: the integration's key and secret settings, which are sent again when a
   * model gets another address. They are compared, not changed.
   */
  key: z.string().min(1).max(16_384).optional(),
  configurations: z.record(z.string().max(128), z.unknown()).optional(),
});

const deleteIntegrationModelsQuery = z.object({
  slugs: commaList().refine((list) => list.length > 0, 'is required'),
});

/** What a workspace may be given at the least: a dollar, or a hundred tokens. */
const grantedUsage = usageLimits.refine(
  (limits) => limits.type !== 'tokens' || limits.credit_limit >= 100,
  { path: ['credit_limit'], message: 'must be 100 tokens or more' },
);
const grantLimits = {
  usage_limits: z.array(grantedUsage).max(1).nullish(),
  rate_limits: rateLimits.max(1).nullish(),
};

const globalWorkspaceAccess = z.object({ enabled: z.boolean(), ...grantLimits });
export type GlobalWorkspaceAccess = z.infer<typeof globalWorkspaceAccess>;

const updateIntegrationWorkspacesBody = z.object({
  workspaces: z
    .array(
      z.object({
        id: referenceField,
        enabled: z.boolean(),
        ...grantLimits,
        reset_usage: flagField.optional(),
        create_default_provider: z.boolean().optional(),
        default_provider_slug: slugField.optional(),
      }),
    )
    .max(1000)
    .optional(),
  global_workspace_access: globalWorkspaceAccess.nullish(),
  override_existing_workspace_access: z.boolean().default(false),
  create_default_provider: z.boolean().optional(),
  default_provider_slug: slugField.optional(),
});

const integration = z
  .object({
    id: z.uuid(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid().nullable(),
    ai_provider_id: z.string(),
    name: z.string(),
    status: z.enum(['active', 'archived']),
    created_at: instantText,
    last_updated_at: instantText.nullable(),
    slug: z.string(),
    description: z.string(),
    tags: z.record(z.string(), z.string()).nullable(),
    object: z.literal('integration'),
  })
  .register(shapeNames, { name: 'IntegrationSummary' });

const shownGrantLimits = {
  usage_limits: z.array(shownUsageLimits).nullable(),
  rate_limits: z.array(shownRateLimit).nullable(),
};

const integrationDetail = integration
  .extend({
    masked_key: z.string(),
    /** The settings of its provider; what is secret appears as `masked_<name>`. */
    configurations: z.record(z.string(), z.unknown()),
    global_workspace_access_settings: z.object({ enabled: z.boolean(), ...shownGrantLimits }),
    allow_all_models: z.boolean(),
    workspace_count: z.int(),
    secret_mappings: z.array(secretMapping),
    pricing_adjustments: pricingAdjustments.nullable(),
  })
  .register(shapeNames, { name: 'Integration' });

const model = z
  .object({
    slug: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    is_custom: z.boolean().nullable(),
    is_finetune: z.boolean().nullable(),
    base_model_slug: z.string().nullable(),
    pricing_config: pricingConfig.extend({ type: z.literal('static') }).optional(),
    configurations: z.object({
      custom_host: z.string().optional(),
      custom_headers: z.record(z.string(), z.string()).optional(),
    }),
  })
  .register(shapeNames, { name: 'IntegrationModel' });

const grant = z
  .object({
    id: z.string(),
    workspace_id: z.uuid(),
    enabled: z.boolean(),
    ...shownGrantLimits,
    last_reset_at: instantText.nullable(),
  })
  .register(shapeNames, { name: 'IntegrationWorkspace' });

const integrationTest = z
  .object({
    object: z.literal('integration-test'),
    slug: z.string(),
    reachable: z.boolean(),
    tested: z.enum(['models', 'host']),
    latency_ms: z.int(),
    status: z.int().optional().meta({ description: 'The HTTP status that it answered with.' }),
    cause: z.string().optional().meta({
      description:
        'Why not: `unauthorised`, `not_found`, `rate_limited`, `rejected`, `failed`, `redirected`, `unreadable`, `not_configured`, `blocked`, or a cause of failure such as `dns`, `timeout`, `tls_expired`.',
    }),
    message: z.string().optional().meta({
      description: 'The same in words, 200 characters at most; nothing of what the provider said.',
    }),
    models: z.array(z.string()).optional(),
    models_total: z.int().optional(),
  })
  .register(shapeNames, { name: 'IntegrationTest' });

const scopesTo = byLevel('organisation_integrations', 'workspace_integrations');

export const integrationsEndpoints = {
  'integrations.list': endpoint({
    operationId: 'getIntegrations',
    summary: 'List connections to model providers',
    tag: 'Integrations',
    method: 'get',
    path: '/integrations',
    access: { keys: anyKey, scopes: scopesTo('list') },
    query: listIntegrationsQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(integration),
    }),
  }),
  'integrations.create': endpoint({
    operationId: 'postIntegrations',
    summary: 'Connect a model provider, with its credentials',
    tag: 'Integrations',
    method: 'post',
    path: '/integrations',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'integrations', action: 'create' },
    body: createIntegrationBody,
    answer: z.object({ id: z.uuid(), slug: z.string() }),
  }),
  'integrations.read': endpoint({
    operationId: 'getIntegrationsSlug',
    summary: 'Show one connection, its secrets masked',
    tag: 'Integrations',
    method: 'get',
    path: '/integrations/{slug}',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: integrationDetail,
  }),
  'integrations.update': endpoint({
    operationId: 'putIntegrationsSlug',
    summary: 'Change a connection to a model provider',
    tag: 'Integrations',
    method: 'put',
    path: '/integrations/{slug}',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'integrations', action: 'update' },
    body: updateIntegrationBody,
    answer: nothing,
  }),
  'integrations.delete': endpoint({
    operationId: 'deleteIntegrationsSlug',
    summary: 'Disconnect a model provider',
    tag: 'Integrations',
    method: 'delete',
    path: '/integrations/{slug}',
    access: { keys: anyKey, scopes: scopesTo('delete') },
    audit: { resourceType: 'integrations', action: 'delete' },
    answer: nothing,
  }),
  'integrations.test': endpoint({
    operationId: 'testIntegration',
    summary: 'Ask a provider for its models with the stored credential',
    tag: 'Integrations',
    method: 'post',
    path: '/integrations/{slug}/test',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'integrations', action: 'test' },
    answer: integrationTest,
    added: 'whether a provider can be reached is known before its first request fails',
  }),
  'integrations.models.list': endpoint({
    operationId: 'getIntegrationsSlugModels',
    summary: 'List the models that a connection offers',
    tag: 'Integrations > Models',
    method: 'get',
    path: '/integrations/{slug}/models',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: pageQuery({ default: 5000, max: 5000 }),
    answer: z.object({ total: z.int(), models: z.array(model) }),
  }),
  'integrations.models.update': endpoint({
    operationId: 'putIntegrationsSlugModels',
    summary: 'Set which models a connection offers, and at what price',
    tag: 'Integrations > Models',
    method: 'put',
    path: '/integrations/{slug}/models',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'integrations', action: 'update' },
    body: updateIntegrationModelsBody,
    answer: nothing,
  }),
  'integrations.models.delete': endpoint({
    operationId: 'deleteIntegrationsSlugModels',
    summary: 'Take models of your own from a connection',
    tag: 'Integrations > Models',
    method: 'delete',
    path: '/integrations/{slug}/models',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'integrations', action: 'delete' },
    query: deleteIntegrationModelsQuery,
    answer: nothing,
  }),
  'integrations.workspaces.list': endpoint({
    operationId: 'getIntegrationsSlugWorkspaces',
    summary: 'List the workspaces that may use a connection',
    tag: 'Integrations > Workspaces',
    method: 'get',
    path: '/integrations/{slug}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: cappedListQuery,
    answer: z.object({ total: z.int(), workspaces: z.array(grant) }),
  }),
  'integrations.workspaces.update': endpoint({
    operationId: 'putIntegrationsSlugWorkspaces',
    summary: 'Set which workspaces may use a connection, within which limits',
    tag: 'Integrations > Workspaces',
    method: 'put',
    path: '/integrations/{slug}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'integrations', action: 'update' },
    body: updateIntegrationWorkspacesBody,
    answer: nothing,
  }),
};
