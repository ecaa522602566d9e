import type { OperationId } from '../../src/authorisation/table.ts';
import {
  apiKey,
  auditLogs,
  configDetail,
  configList,
  configVersion,
  createdConfig,
  createdKey,
  createdPolicy,
  graph,
  integration,
  integrationDetail,
  integrationModels,
  integrationWorkspaces,
  modelGroup,
  policy,
  provider,
  reference,
  rotatedKey,
  updatedConfig,
  workspace,
  workspaceWithUsers,
} from './answers.ts';
import type { Fields } from './fields.ts';
import { type Kind, random } from './resources.ts';
import { type Check, listOf, nothing } from './shape.ts';

/** What a body is made from: ids that only a running service knows. */
export interface Known {
  organisationId: string;
  workspaceId: string;
  ownerId: string;
  configSlug: string;
  /** An integration of the workspace. */
  integrationSlug: string;
}

export interface ContractOperation {
  id: OperationId;
  method: 'get' | 'post' | 'put' | 'delete';
  path: string;
  /** The resource that `{id}` in the path names. */
  of?: Kind;
  callers: readonly ('admin' | 'workspace')[];
  /** Where an organisation key names the workspace, if it has to or may. */
  names?: 'query' | 'body';
  /** Every field that may be sent, with a value that is valid. */
  body?: (known: Known) => Record<string, unknown>;
  bodyOptional?: true;
  fields?: Fields;
  query?: Record<string, string>;
  queryFields?: Fields;
  answer: Check;
}

const both = ['admin', 'workspace'] as const;
const admin = ['admin'] as const;

const limits = {
  usage_limits: {
    credit_limit: 10,
    type: 'cost',
    alert_threshold: 5,
    periodic_reset: 'monthly',
    next_usage_reset_at: '2030-01-01T00:00:00Z',
  },
  rate_limit: { type: 'requests', unit: 'rpm', value: 100 },
};
const usageFields = (at: string): Fields => ({
  [`${at}.credit_limit`]: 'integer',
  [`${at}.type`]: 'enum',
  [`${at}.alert_threshold`]: 'integer?',
  [`${at}.periodic_reset`]: 'enum?',
  [`${at}.next_usage_reset_at`]: 'instant?',
});
const rateFields = (at: string): Fields => ({
  [`${at}.type`]: 'enum',
  [`${at}.unit`]: 'enum',
  [`${at}.value`]: 'integer',
});
const paging: Fields = { current_page: 'count', page_size: 'count' };

const keyBody = (known: Known) => ({
  name: 'A key',
  description: 'What it is for',
  scopes: ['completions.write'],
  rate_limits: [{ ...limits.rate_limit, unit: 'rps' }],
  usage_limits: limits.usage_limits,
  defaults: {
    metadata: { environment: 'test' },
    config_id: known.configSlug,
    allow_config_override: false,
  },
  alert_emails: ['alerts@example.org'],
  expires_at: '2090-01-01T00:00:00Z',
  rotation_policy: {
    rotation_period: 'monthly',
    next_rotation_at: '2030-01-01T00:00:00Z',
    key_transition_period_ms: 1_800_000,
  },
});
const keyFields: Fields = {
  name: 'text',
  description: 'text?',
  scopes: 'list',
  'scopes.0': 'text',
  rate_limits: 'list?',
  ...rateFields('rate_limits.0'),
  usage_limits: 'object?',
  ...usageFields('usage_limits'),
  defaults: 'object?',
  'defaults.metadata': 'object?',
  'defaults.config_id': 'text?',
  'defaults.allow_config_override': 'boolean',
  alert_emails: 'list?',
  'alert_emails.0': 'email',
  expires_at: 'instant?',
  rotation_policy: 'object?',
  'rotation_policy.rotation_period': 'enum?',
  'rotation_policy.next_rotation_at': 'instant?',
  'rotation_policy.key_transition_period_ms': 'integer',
};
const organisationKeyBody = (known: Known) => {
  const { config_id: _without, ...defaults } = keyBody(known).defaults;
  return {
    ...keyBody(known),
    scopes: ['configs.list'],
    defaults,
    organisation_id: known.organisationId,
  };
};
const organisationKeyFields = (() => {
  const { 'defaults.config_id': _without, ...fields } = keyFields;
  return { ...fields, organisation_id: 'uuid' } satisfies Fields;
})();

const workspaceBody = (known: Known) => ({
  name: 'A workspace',
  description: 'What it is for',
  defaults: { metadata: { environment: 'test' } },
  users: [known.ownerId],
  usage_limits: [limits.usage_limits],
  rate_limits: [limits.rate_limit],
});
const workspaceFields: Fields = {
  name: 'text',
  description: 'text?',
  defaults: 'object?',
  'defaults.metadata': 'object?',
  usage_limits: 'list?',
  ...usageFields('usage_limits.0'),
  rate_limits: 'list?',
  ...rateFields('rate_limits.0'),
};

const integrationBody = () => ({
  name: 'An integration',
  key: 'sk-integration-secret-0001',
  description: 'What it is for',
  configurations: {
    openai_organization: 'org-1',
    openai_api_secret: 'configured-secret-0001',
    custom_host: 'https://models.example.org/v1',
    custom_headers: { 'x-team': 'a', 'x-api-key': 'header-secret-0001' },
  },
  secret_mappings: [],
  pricing_adjustments: { multiplier: { default: 1.5, image: { default: 2 } } },
  tags: { team: 'a' },
});
const integrationFields: Fields = {
  name: 'text',
  key: 'text?',
  description: 'text?',
  configurations: 'object?',
  'configurations.custom_host': 'url?',
  'configurations.custom_headers': 'object?',
  'configurations.custom_headers.x-team': 'text',
  secret_mappings: 'list?',
  pricing_adjustments: 'object?',
  'pricing_adjustments.multiplier': 'object',
  'pricing_adjustments.multiplier.default': 'number?',
  'pricing_adjustments.multiplier.image': 'object?',
  tags: 'object?',
  'tags.team': 'text',
};

const providerBody = () => ({
  name: 'A provider',
  note: 'What it is for',
  usage_limits: limits.usage_limits,
  rate_limits: limits.rate_limit,
  expires_at: '2090-01-01T00:00:00Z',
});
const providerFields: Fields = {
  name: 'text',
  note: 'text?',
  usage_limits: 'object?',
  ...usageFields('usage_limits'),
  rate_limits: 'limits?',
  ...rateFields('rate_limits'),
  expires_at: 'instant?',
};

const policyBody = () => ({
  name: 'A policy',
  description: 'What it is for',
  conditions: [{ key: 'model', value: ['@openai/*'], excludes: 'gpt-3*' }],
  group_by: [{ key: 'api_key' }],
  type: 'tokens',
  unit: 'rpw',
  value: 1000,
  target: 'llm',
});
const policyFields: Fields = {
  name: 'text?',
  description: 'text?',
  conditions: 'list',
  'conditions.0': 'object',
  'conditions.0.key': 'text',
  'conditions.0.value': 'texts',
  'conditions.0.value.0': 'text',
  'conditions.0.excludes': 'texts',
  unit: 'enum',
  value: 'number',
};

const analyticsQuery = {
  time_of_generation_min: '2025-01-01T00:00:00Z',
  time_of_generation_max: '2025-01-02T00:00:00Z',
};
const analyticsFields: Fields = {
  time_of_generation_min: 'instant',
  time_of_generation_max: 'instant',
  total_units_min: 'count',
  total_units_max: 'count',
  prompt_token_min: 'count',
  prompt_token_max: 'count',
  completion_token_min: 'count',
  completion_token_max: 'count',
  cost_min: 'decimal',
  cost_max: 'decimal',
  weighted_feedback_min: 'score',
  weighted_feedback_max: 'score',
  status_code: 'status',
  metadata: 'json',
};
const analytics = (name: string, answer: Check): ContractOperation => ({
  id: `analytics.graphs.${name}` as OperationId,
  method: 'get',
  path: `/analytics/graphs/${name}`,
  callers: both,
  query: analyticsQuery,
  queryFields: analyticsFields,
  answer,
});

/** Every operation with what it takes and what it answers. */
export const contract: readonly ContractOperation[] = [
  {
    id: 'api-keys.create',
    method: 'post',
    path: '/api-keys/organisation/service',
    callers: admin,
    body: organisationKeyBody,
    fields: organisationKeyFields,
    answer: createdKey,
  },
  {
    id: 'api-keys.create',
    method: 'post',
    path: '/api-keys/workspace/service',
    callers: both,
    names: 'body',
    body: keyBody,
    fields: keyFields,
    answer: createdKey,
  },
  {
    id: 'api-keys.create',
    method: 'post',
    path: '/api-keys/workspace/user',
    callers: both,
    names: 'body',
    body: (known) => ({ ...keyBody(known), user_id: known.ownerId }),
    fields: { ...keyFields, user_id: 'uuid', workspace_id: 'text?' },
    answer: createdKey,
  },
  {
    id: 'api-keys.list',
    method: 'get',
    path: '/api-keys',
    callers: both,
    names: 'query',
    queryFields: { ...paging, ids: 'uuids' },
    answer: listOf(apiKey),
  },
  {
    id: 'api-keys.read',
    method: 'get',
    path: '/api-keys/{id}',
    of: 'api-key',
    callers: both,
    answer: apiKey,
  },
  {
    id: 'api-keys.update',
    method: 'put',
    path: '/api-keys/{id}',
    of: 'api-key',
    callers: both,
    body: (known) => ({ ...keyBody(known), reset_usage: true }),
    bodyOptional: true,
    fields: { ...keyFields, reset_usage: 'boolean' },
    answer: nothing,
  },
  {
    id: 'api-keys.delete',
    method: 'delete',
    path: '/api-keys/{id}',
    of: 'api-key',
    callers: both,
    answer: nothing,
  },
  {
    id: 'api-keys.rotate',
    method: 'post',
    path: '/api-keys/{id}/rotate',
    of: 'api-key',
    callers: both,
    body: () => ({ key_transition_period_ms: 1_800_000 }),
    bodyOptional: true,
    fields: { key_transition_period_ms: 'integer' },
    answer: rotatedKey,
  },

  {
    id: 'workspaces.create',
    method: 'post',
    path: '/admin/workspaces',
    callers: admin,
    body: workspaceBody,
    fields: { ...workspaceFields, users: 'list', 'users.0': 'uuid' },
    answer: workspace,
  },
  {
    id: 'workspaces.list',
    method: 'get',
    path: '/admin/workspaces',
    callers: both,
    queryFields: { ...paging, status: 'status-names' },
    answer: listOf(workspace),
  },
  {
    id: 'workspaces.read',
    method: 'get',
    path: '/admin/workspaces/{id}',
    of: 'workspace',
    callers: admin,
    query: { name_format: 'plain' },
    queryFields: { name_format: 'enum' },
    answer: workspaceWithUsers,
  },
  {
    id: 'workspaces.update',
    method: 'put',
    path: '/admin/workspaces/{id}',
    of: 'workspace',
    callers: admin,
    body: (known) => {
      const { users: _users, defaults, ...body } = workspaceBody(known);
      return {
        ...body,
        defaults: {
          ...defaults,
          input_guardrails: [],
          output_guardrails: [],
          user_api_key_config: null,
        },
      };
    },
    bodyOptional: true,
    fields: {
      ...workspaceFields,
      'defaults.input_guardrails': 'list?',
      'defaults.output_guardrails': 'list?',
      'defaults.user_api_key_config': 'text?',
    },
    answer: nothing,
  },
  {
    id: 'workspaces.delete',
    method: 'delete',
    path: '/admin/workspaces/{id}',
    of: 'workspace',
    callers: admin,
    answer: nothing,
  },

  {
    id: 'integrations.list',
    method: 'get',
    path: '/integrations',
    callers: both,
    names: 'query',
    query: { type: 'all', tags: '{}' },
    queryFields: { ...paging, type: 'enum', tags: 'json' },
    answer: listOf(integration),
  },
  {
    id: 'integrations.create',
    method: 'post',
    path: '/integrations',
    callers: both,
    names: 'body',
    body: () => ({
      ...integrationBody(),
      ai_provider_id: 'openai',
      slug: `i-${random()}`,
      create_default_provider: true,
      default_provider_slug: `p-${random()}`,
    }),
    fields: {
      ...integrationFields,
      ai_provider_id: 'text',
      slug: 'slug',
      create_default_provider: 'boolean',
      default_provider_slug: 'slug',
    },
    answer: reference,
  },
  {
    id: 'integrations.read',
    method: 'get',
    path: '/integrations/{id}',
    of: 'integration',
    callers: both,
    answer: integrationDetail,
  },
  {
    id: 'integrations.update',
    method: 'put',
    path: '/integrations/{id}',
    of: 'integration',
    callers: both,
    body: integrationBody,
    fields: integrationFields,
    answer: nothing,
  },
  {
    id: 'integrations.delete',
    method: 'delete',
    path: '/integrations/{id}',
    of: 'integration',
    callers: both,
    answer: nothing,
  },
  {
    id: 'integrations.models.list',
    method: 'get',
    path: '/integrations/{id}/models',
    of: 'integration',
    callers: both,
    answer: integrationModels,
  },
  {
    id: 'integrations.models.update',
    method: 'put',
    path: '/integrations/{id}/models',
    of: 'integration',
    callers: both,
    body: () => ({
      models: [
        {
          slug: 'gpt-4o',
          enabled: true,
          is_custom: true,
          is_finetune: false,
          base_model_slug: 'gpt-4o',
          configurations: {
            custom_host: 'https://models.example.org/v1',
            custom_headers: { 'x-team': 'a' },
          },
          pricing_config: {
            type: 'static',
            pay_as_you_go: { request_token: { price: 0.00025 }, response_token: { price: 0.001 } },
          },
        },
      ],
      allow_all_models: false,
    }),
    fields: {
      models: 'list',
      'models.0': 'object',
      'models.0.slug': 'text',
      'models.0.enabled': 'boolean',
      'models.0.is_custom': 'boolean?',
      'models.0.is_finetune': 'boolean?',
      'models.0.base_model_slug': 'text?',
      'models.0.configurations': 'object?',
      'models.0.configurations.custom_host': 'url?',
      'models.0.configurations.custom_headers': 'object?',
      'models.0.configurations.custom_headers.x-team': 'text',
      'models.0.pricing_config': 'object?',
      'models.0.pricing_config.type': 'enum',
      'models.0.pricing_config.pay_as_you_go.request_token.price': 'number',
      allow_all_models: 'boolean',
    },
    answer: nothing,
  },
  {
    id: 'integrations.models.delete',
    method: 'delete',
    path: '/integrations/{id}/models',
    of: 'integration',
    callers: both,
    query: { slugs: 'gpt-4,gpt-3.5-turbo' },
    answer: nothing,
  },
  {
    id: 'integrations.workspaces.list',
    method: 'get',
    path: '/integrations/{id}/workspaces',
    of: 'integration',
    callers: both,
    answer: integrationWorkspaces,
  },

  {
    id: 'providers.list',
    method: 'get',
    path: '/providers',
    callers: both,
    names: 'query',
    queryFields: paging,
    answer: listOf(provider),
  },
  {
    id: 'providers.create',
    method: 'post',
    path: '/providers',
    callers: both,
    names: 'body',
    body: (known) => ({
      ...providerBody(),
      integration_id: known.integrationSlug,
      slug: `p-${random()}`,
    }),
    fields: { ...providerFields, integration_id: 'text', slug: 'slug', workspace_id: 'text?' },
    answer: reference,
  },
  {
    id: 'providers.read',
    method: 'get',
    path: '/providers/{id}',
    of: 'provider',
    callers: both,
    names: 'query',
    answer: provider,
  },
  {
    id: 'providers.update',
    method: 'put',
    path: '/providers/{id}',
    of: 'provider',
    callers: both,
    names: 'query',
    body: () => ({ ...providerBody(), reset_usage: true }),
    fields: { ...providerFields, reset_usage: 'boolean' },
    answer: reference,
  },
  {
    id: 'providers.delete',
    method: 'delete',
    path: '/providers/{id}',
    of: 'provider',
    callers: both,
    names: 'query',
    answer: nothing,
  },

  {
    id: 'configs.list',
    method: 'get',
    path: '/configs',
    callers: both,
    names: 'query',
    answer: configList,
  },
  {
    id: 'configs.create',
    method: 'post',
    path: '/configs',
    callers: both,
    names: 'body',
    body: () => ({ name: 'A config', config: { provider: '@demo' }, isDefault: 0 }),
    fields: { name: 'text', config: 'document', isDefault: 'flag', workspace_id: 'text?' },
    answer: createdConfig,
  },
  {
    id: 'configs.read',
    method: 'get',
    path: '/configs/{id}',
    of: 'config',
    callers: both,
    names: 'query',
    answer: configDetail,
  },
  {
    id: 'configs.update',
    method: 'put',
    path: '/configs/{id}',
    of: 'config',
    callers: both,
    names: 'query',
    body: () => ({ name: 'A config', config: { provider: '@demo' }, status: 'active' }),
    fields: { name: 'text', config: 'document', status: 'text' },
    answer: updatedConfig,
  },
  {
    id: 'configs.delete',
    method: 'delete',
    path: '/configs/{id}',
    of: 'config',
    callers: both,
    names: 'query',
    answer: nothing,
  },
  {
    id: 'configs.versions',
    method: 'get',
    path: '/configs/{id}/versions',
    of: 'config',
    callers: both,
    names: 'query',
    answer: listOf(configVersion),
  },

  {
    id: 'rate-limits-policies.create',
    method: 'post',
    path: '/policies/rate-limits',
    callers: both,
    names: 'body',
    body: (known) => ({ ...policyBody(), organisation_id: known.organisationId }),
    fields: {
      ...policyFields,
      group_by: 'list',
      'group_by.0': 'object',
      'group_by.0.key': 'text',
      type: 'enum',
      target: 'enum',
      workspace_id: 'text?',
      organisation_id: 'uuid',
    },
    answer: createdPolicy,
  },
  {
    id: 'rate-limits-policies.list',
    method: 'get',
    path: '/policies/rate-limits',
    callers: both,
    names: 'query',
    query: { status: 'active' },
    queryFields: { ...paging, status: 'enum', type: 'enum', unit: 'enum' },
    answer: listOf(policy),
  },
  {
    id: 'rate-limits-policies.read',
    method: 'get',
    path: '/policies/rate-limits/{id}',
    of: 'policy',
    callers: both,
    query: { status: 'active' },
    queryFields: { status: 'enum' },
    answer: policy,
  },
  {
    id: 'rate-limits-policies.update',
    method: 'put',
    path: '/policies/rate-limits/{id}',
    of: 'policy',
    callers: both,
    body: () => {
      const { group_by: _group, type: _type, target: _target, ...body } = policyBody();
      return body;
    },
    fields: policyFields,
    answer: nothing,
  },
  {
    id: 'rate-limits-policies.delete',
    method: 'delete',
    path: '/policies/rate-limits/{id}',
    of: 'policy',
    callers: both,
    answer: nothing,
  },

  {
    id: 'audit-logs.list',
    method: 'get',
    path: '/audit-logs',
    callers: admin,
    query: { start_time: '2020-01-01T00:00:00Z', end_time: '2099-01-01T00:00:00Z' },
    queryFields: {
      current_page: 'count',
      page_size: 'count',
      start_time: 'instant',
      end_time: 'instant',
      method: 'enum',
      user_type: 'enum',
      response_status_code: 'count',
    },
    answer: auditLogs,
  },
  analytics('requests', graph('total')),
  analytics('cost', graph('total', 'avg')),
  analytics('tokens', graph('total', 'avg')),
  analytics('latency', graph('avg', 'p50', 'p90', 'p99')),
  {
    id: 'analytics.groups.ai-models',
    method: 'get',
    path: '/analytics/groups/ai-models',
    callers: both,
    query: analyticsQuery,
    queryFields: { ...analyticsFields, ...paging },
    answer: listOf(modelGroup),
  },
];
