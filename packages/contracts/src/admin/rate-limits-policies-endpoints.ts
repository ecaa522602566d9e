import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import {
  createRateLimitsPolicyBody,
  getRateLimitsPolicyQuery,
  listRateLimitsPoliciesQuery,
  updateRateLimitsPolicyBody,
} from './rate-limits-policies.ts';

const condition = z.object({
  key: z.string(),
  value: z.union([z.string(), z.array(z.string())]),
  excludes: z.union([z.string(), z.array(z.string())]),
});

const groupBy = z.object({
  key: z.string(),
});

const rateLimitsPolicy = z.object({
  id: z.uuid(),
  name: z.string().nullable(),
  conditions: z.array(condition),
  group_by: z.array(groupBy),
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd', 'rpw']),
  value: z.number(),
  status: z.enum(['active', 'archived']),
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  description: z.string().nullable(),
  target: z.enum(['llm', 'mcp_tools']),
});

const rateLimitsPolicyListResponse = z.object({
  object: z.string(),
  data: z.array(rateLimitsPolicy),
  total: z.int(),
});

const createPolicyResponse = z.object({
  id: z.uuid(),
  object: z.string(),
});

const rateLimitsPolicyResponse = z.object({
  id: z.uuid(),
  name: z.string().nullable(),
  conditions: z.array(condition),
  group_by: z.array(groupBy),
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd', 'rpw']),
  value: z.number(),
  status: z.enum(['active', 'archived']),
  workspace_id: z.uuid(),
  organisation_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  description: z.string().nullable(),
  target: z.enum(['llm', 'mcp_tools']),
  object: z.string(),
});

export const rateLimitsPoliciesEndpoints = {
  'rate-limits-policies.list': endpoint({
    operationId: 'listRateLimitsPolicies',
    tag: 'Rate Limits Policies',
    method: 'get',
    path: '/policies/rate-limits',
    query: listRateLimitsPoliciesQuery,
    answer: rateLimitsPolicyListResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'rate-limits-policies.create': endpoint({
    operationId: 'createRateLimitsPolicy',
    tag: 'Rate Limits Policies',
    method: 'post',
    path: '/policies/rate-limits',
    body: createRateLimitsPolicyBody,
    answer: createPolicyResponse,
    errors: [400, 401, 403, 500],
  }),
  'rate-limits-policies.read': endpoint({
    operationId: 'getRateLimitsPolicy',
    tag: 'Rate Limits Policies',
    method: 'get',
    path: '/policies/rate-limits/{rateLimitsPolicyId}',
    query: getRateLimitsPolicyQuery,
    answer: rateLimitsPolicyResponse,
    errors: [400, 401, 403, 404, 500],
  }),
  'rate-limits-policies.update': endpoint({
    operationId: 'updateRateLimitsPolicy',
    tag: 'Rate Limits Policies',
    method: 'put',
    path: '/policies/rate-limits/{rateLimitsPolicyId}',
    body: updateRateLimitsPolicyBody,
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'rate-limits-policies.delete': endpoint({
    operationId: 'deleteRateLimitsPolicy',
    tag: 'Rate Limits Policies',
    method: 'delete',
    path: '/policies/rate-limits/{rateLimitsPolicyId}',
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
};
