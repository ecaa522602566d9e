import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantField, instantText, nameField, referenceField } from './fields.ts';
import { pageQuery, queryFlag } from './paging.ts';

const condition = z.object({
  key: z.string(),
  value: z.union([z.string(), z.array(z.string())]),
  excludes: z.union([z.string(), z.array(z.string())]),
});

const groupBy = z.object({
  key: z.string(),
});

const valueKeyUsage = z.object({
  current_usage: z.number(),
  status: z.enum(['active', 'exhausted']),
  is_threshold_alerts_sent: z.boolean(),
  is_exhausted_alerts_sent: z.boolean(),
});

const usageLimitsPolicy = z.object({
  id: z.uuid(),
  name: z.string().nullable(),
  conditions: z.array(condition),
  group_by: z.array(groupBy),
  type: z.enum(['cost', 'tokens', 'requests']),
  credit_limit: z.number(),
  alert_threshold: z.number().nullable(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
  last_reset_at: instantText.nullable(),
  status: z.enum(['active', 'archived']),
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  value_key_usage_map: z.record(z.string(), valueKeyUsage),
  description: z.string().nullable(),
});

const usageLimitsPolicyListResponse = z.object({
  object: z.string(),
  data: z.array(usageLimitsPolicy),
  total: z.int(),
});

const conditionInput = z.object({
  key: z.string(),
  value: z.union([z.string(), z.array(z.string())]),
  excludes: z.union([z.string(), z.array(z.string())]).optional(),
});

const groupByInput = z.object({
  key: z.string(),
});

const createUsageLimitsPolicyRequestInput = z.object({
  name: nameField.optional(),
  conditions: z.array(conditionInput).min(1),
  group_by: z.array(groupByInput).min(1),
  type: z.enum(['cost', 'tokens', 'requests']),
  credit_limit: z.number().min(0),
  alert_threshold: z.number().min(0).nullable().optional(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable().optional(),
  workspace_id: referenceField.optional(),
  organisation_id: z.uuid().optional(),
  description: z.string().max(500).nullable().optional(),
  periodic_reset_days: z.int().min(1).max(365).nullable().optional(),
  next_usage_reset_at: instantField.nullable().optional(),
});

const createPolicyResponse = z.object({
  id: z.uuid(),
  object: z.string(),
});

const usageLimitsPolicyResponse = z.object({
  id: z.uuid(),
  name: z.string().nullable(),
  conditions: z.array(condition),
  group_by: z.array(groupBy),
  type: z.enum(['cost', 'tokens', 'requests']),
  credit_limit: z.number(),
  alert_threshold: z.number().nullable(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
  last_reset_at: instantText.nullable(),
  status: z.enum(['active', 'archived']),
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  value_key_usage_map: z.record(z.string(), valueKeyUsage),
  description: z.string().nullable(),
  object: z.string(),
});

const updateUsageLimitsPolicyRequestInput = z.object({
  name: nameField.optional(),
  credit_limit: z.number().min(0).optional(),
  alert_threshold: z.number().min(0).nullable().optional(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable().optional(),
  reset_usage_for_value: z.string().optional(),
  description: z.string().max(500).nullable().optional(),
  conditions: z.array(conditionInput).min(1).optional(),
  periodic_reset_days: z.int().min(1).max(365).nullable().optional(),
  next_usage_reset_at: instantField.nullable().optional(),
});

const usageLimitsPolicyEntity = z.object({
  id: z.string(),
  value_key: z.string(),
  current_usage: z.number(),
});

const usageLimitsPolicyEntityListResponse = z.object({
  object: z.string(),
  data: z.array(usageLimitsPolicyEntity),
  total: z.int(),
});

export const usageLimitsPoliciesEndpoints = {
  'usage-limits-policies.list': endpoint({
    operationId: 'listUsageLimitsPolicies',
    tag: 'Usage Limits Policies',
    method: 'get',
    path: '/policies/usage-limits',
    query: z
      .object({
        workspace_id: referenceField.optional(),
        status: z.enum(['active', 'archived']).default('active'),
        type: z.enum(['cost', 'tokens', 'requests']).optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: usageLimitsPolicyListResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.create': endpoint({
    operationId: 'createUsageLimitsPolicy',
    tag: 'Usage Limits Policies',
    method: 'post',
    path: '/policies/usage-limits',
    body: createUsageLimitsPolicyRequestInput,
    answer: createPolicyResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.read': endpoint({
    operationId: 'getUsageLimitsPolicy',
    tag: 'Usage Limits Policies',
    method: 'get',
    path: '/policies/usage-limits/{policyUsageLimitsId}',
    query: z.object({
      status: z.enum(['active', 'archived']).default('active'),
      include_usage: queryFlag.default(false),
    }),
    answer: usageLimitsPolicyResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.update': endpoint({
    operationId: 'updateUsageLimitsPolicy',
    tag: 'Usage Limits Policies',
    method: 'put',
    path: '/policies/usage-limits/{policyUsageLimitsId}',
    body: updateUsageLimitsPolicyRequestInput,
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.delete': endpoint({
    operationId: 'deleteUsageLimitsPolicy',
    tag: 'Usage Limits Policies',
    method: 'delete',
    path: '/policies/usage-limits/{policyUsageLimitsId}',
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.entities.list': endpoint({
    operationId: 'listUsageLimitsPolicyEntities',
    tag: 'Usage Limits Policies',
    method: 'get',
    path: '/policies/usage-limits/{policyUsageLimitsId}/entities',
    query: z
      .object({
        status: z.enum(['active', 'exhausted']).optional(),
        search: z.string().optional(),
      })
      .and(pageQuery({ default: 100, max: 100 })),
    answer: usageLimitsPolicyEntityListResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'usage-limits-policies.entities.reset': endpoint({
    operationId: 'resetUsageLimitsPolicyEntity',
    tag: 'Usage Limits Policies',
    method: 'put',
    path: '/policies/usage-limits/{policyUsageLimitsId}/entities/{entityId}/reset',
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
};
