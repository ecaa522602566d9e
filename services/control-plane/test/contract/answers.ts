import {
  anything,
  boolean,
  instant,
  integer,
  jsonText,
  list,
  masked,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  secret,
  text,
  uuid,
} from './shape.ts';

/**
 * What the admin API answers, field by field. A field that is not marked
 * nullable is never null: it is left out when there is nothing to say.
 */
const usageLimits = object({
  credit_limit: integer,
  type: oneOf('cost', 'tokens'),
  alert_threshold: optional(nullable(integer)),
  periodic_reset: optional(nullable(oneOf('monthly', 'weekly'))),
  periodic_reset_days: optional(nullable(integer)),
  next_usage_reset_at: optional(nullable(instant)),
});
const rateLimit = object({
  type: oneOf('requests', 'tokens'),
  unit: oneOf('rps', 'rpm', 'rph', 'rpd', 'rpw'),
  value: integer,
});

export const createdKey = object({ id: uuid, key: secret, object: oneOf('api-key') });
export const rotatedKey = object({ id: uuid, key: secret, key_transition_expires_at: instant });
export const apiKey = object({
  id: uuid,
  key: masked,
  name: text,
  slug: text,
  description: optional(text),
  type: oneOf('organisation-service', 'workspace-service', 'workspace-user'),
  organisation_id: uuid,
  workspace_id: optional(text),
  user_id: optional(uuid),
  status: oneOf('active', 'exhausted', 'expired'),
  created_at: instant,
  last_updated_at: instant,
  creation_mode: oneOf('ui', 'api', 'auto'),
  rate_limits: list(rateLimit),
  usage_limits: optional(usageLimits),
  reset_usage: number,
  scopes: list(text),
  defaults: object({
    metadata: record(text),
    config_id: optional(text),
    allow_config_override: boolean,
  }),
  alert_emails: list(text),
  expires_at: optional(instant),
  last_reset_at: nullable(instant),
  last_rotated_at: nullable(instant),
  rotation_policy: nullable(
    object({
      rotation_period: optional(nullable(oneOf('weekly', 'monthly'))),
      rotation_period_days: optional(nullable(integer)),
      next_rotation_at: optional(nullable(instant)),
      key_transition_period_ms: optional(integer),
    }),
  ),
  object: oneOf('api-key'),
});

const workspaceFields = {
  id: text,
  slug: text,
  name: text,
  description: nullable(text),
  status: oneOf('active', 'archived'),
  created_at: instant,
  last_updated_at: instant,
  usage_limits: list(usageLimits),
  rate_limits: list(rateLimit),
  object: oneOf('workspace'),
};
const workspaceDefaults = {
  metadata: record(text),
  is_default: oneOf(0, 1),
  object: oneOf('workspace'),
};
export const workspace = object({ ...workspaceFields, defaults: object(workspaceDefaults) });
export const workspaceWithUsers = object({
  ...workspaceFields,
  defaults: object({
    ...workspaceDefaults,
    input_guardrails: list(text),
    output_guardrails: list(text),
    user_api_key_config: nullable(text),
  }),
  users: list(
    object({
      object: oneOf('workspace-user'),
      id: uuid,
      first_name: text,
      last_name: text,
      org_role: oneOf('admin', 'member', 'owner'),
      role: oneOf('admin', 'member', 'manager'),
      created_at: instant,
      last_updated_at: instant,
      status: oneOf('active'),
      workspace_id: uuid,
      email: text,
      scopes: list(text),
      settings: nullable(anything),
    }),
  ),
});

export const reference = object({ id: uuid, slug: text });
const integrationFields = {
  id: uuid,
  organisation_id: uuid,
  workspace_id: nullable(uuid),
  ai_provider_id: text,
  name: text,
  status: oneOf('active', 'archived'),
  created_at: instant,
  last_updated_at: nullable(instant),
  slug: text,
  description: text,
  tags: nullable(record(text)),
  object: oneOf('integration'),
};
export const integration = object(integrationFields);
const globalAccess = object({
  enabled: boolean,
  usage_limits: optional(nullable(list(usageLimits))),
  rate_limits: optional(nullable(list(rateLimit))),
});
export const integrationDetail = object({
  ...integrationFields,
  masked_key: text,
  // Sensitive settings appear under a name that says so, and nowhere else.
  configurations: object({
    openai_organization: optional(text),
    masked_openai_api_secret: optional(masked),
    custom_host: optional(text),
    custom_headers: optional(record(text)),
  }),
  global_workspace_access_settings: nullable(globalAccess),
  allow_all_models: boolean,
  workspace_count: integer,
  secret_mappings: list(anything),
  pricing_adjustments: nullable(object({ multiplier: optional(record(anything)) })),
});
export const integrationModels = object({
  total: integer,
  models: list(
    object({
      slug: text,
      name: text,
      enabled: boolean,
      is_custom: nullable(boolean),
      is_finetune: nullable(boolean),
      base_model_slug: nullable(text),
      pricing_config: optional(
        object({
          type: oneOf('static'),
          pay_as_you_go: record(object({ price: number })),
        }),
      ),
      configurations: object({
        custom_host: optional(text),
        custom_headers: optional(record(text)),
      }),
    }),
  ),
});
export const integrationWorkspaces = object({
  total: integer,
  workspaces: list(
    object({
      id: text,
      workspace_id: uuid,
      enabled: boolean,
      usage_limits: nullable(list(usageLimits)),
      rate_limits: nullable(list(rateLimit)),
    }),
  ),
});

export const provider = object({
  name: text,
  integration_id: text,
  note: nullable(text),
  status: oneOf('active', 'exhausted', 'expired'),
  usage_limits: optional(usageLimits),
  rate_limits: nullable(list(rateLimit)),
  reset_usage: nullable(number),
  created_at: instant,
  last_updated_at: instant,
  last_reset_at: nullable(instant),
  slug: text,
  expires_at: optional(instant),
  object: oneOf('provider'),
});

const configFields = {
  id: uuid,
  name: text,
  slug: text,
  organisation_id: uuid,
  workspace_id: uuid,
  is_default: oneOf(0, 1),
  status: text,
  owner_id: uuid,
  updated_by: uuid,
  created_at: instant,
  last_updated_at: instant,
};
const success = (data: ReturnType<typeof object>) => object({ success: boolean, data });
export const configList = success(list(object(configFields)));
export const createdConfig = success(object({ id: uuid, slug: text, version_id: uuid }));
export const updatedConfig = success(object({ version_id: uuid }));
export const configDetail = success(
  object({ ...configFields, version_id: uuid, config: record(anything) }),
);
export const configVersion = object({
  ...configFields,
  config: jsonText,
  format: oneOf('json'),
  type: oneOf('ORG_CONFIG'),
  version_id: uuid,
  version: integer,
  object: oneOf('config'),
});

export const createdPolicy = object({ id: uuid, object: oneOf('policy_rate_limits') });
const textOrList = (value: unknown, path: string) =>
  Array.isArray(value) ? list(text)(value, path) : text(value, path);
export const policy = object({
  id: uuid,
  name: nullable(text),
  description: nullable(text),
  conditions: list(object({ key: text, value: textOrList, excludes: optional(textOrList) })),
  group_by: list(object({ key: text })),
  type: oneOf('requests', 'tokens'),
  unit: oneOf('rpm', 'rph', 'rpd', 'rpw'),
  value: number,
  target: oneOf('llm', 'mcp_tools'),
  status: oneOf('active', 'archived'),
  workspace_id: uuid,
  organisation_id: uuid,
  created_at: instant,
  last_updated_at: instant,
  object: oneOf('policy_rate_limits'),
});

export const auditLogs = object({
  records: list(
    object({
      timestamp: instant,
      method: oneOf('POST', 'PUT', 'DELETE'),
      uri: text,
      request_id: text,
      request_body: jsonText,
      query_params: jsonText,
      request_headers: jsonText,
      user_id: optional(uuid),
      user_type: oneOf('user', 'api_key'),
      api_key_id: optional(uuid),
      organisation_id: uuid,
      workspace_id: optional(text),
      response_status_code: integer,
      resource_type: text,
      resource_id: optional(text),
      action: oneOf('create', 'update', 'delete', 'rotate'),
      client_ip: text,
      country: optional(text),
      detail: optional(jsonText),
      sequence: integer,
      previous_hash: text,
      hash: text,
    }),
  ),
  total: integer,
  object: oneOf('analytics-graph'),
});

export function graph(...names: string[]) {
  const values = Object.fromEntries(names.map((name) => [name, number]));
  return object({
    summary: object(values),
    data_points: list(object({ timestamp: instant, ...values })),
    object: oneOf('analytics-graph'),
  });
}
export const modelGroup = object({
  ai_model: text,
  requests: text,
  object: oneOf('analytics-group'),
});

export const refusal = object({
  success: (value, path) => (value === false ? [] : [`${path}: is not false`]),
  data: object({
    message: text,
    errorCode: oneOf('AB01', 'AB02', 'AB03', 'AB04', 'AB05', 'AB06', 'AB07', 'AB08'),
    code: text,
    field: optional(text),
    errors: optional(list(text)),
    request_id: text,
  }),
});
