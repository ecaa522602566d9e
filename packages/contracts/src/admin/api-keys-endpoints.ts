import { z } from 'zod';
import {
  createApiKeyBody,
  listApiKeysQuery,
  rotateApiKeyBody,
  updateApiKeyBody,
} from './api-keys.ts';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';

const usageLimits = z.object({
  credit_limit: z.int(),
  type: z.enum(['cost', 'tokens']),
  alert_threshold: z.int(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
});

const apiKeyObject = z.object({
  id: z.uuid(),
  key: z.string(),
  name: z.string(),
  description: z.string(),
  type: z.enum(['organisation-service', 'workspace-service', 'workspace-user']),
  organisation_id: z.uuid(),
  workspace_id: z.string(),
  user_id: z.uuid(),
  status: z.enum(['active', 'exhausted', 'expired']),
  created_at: instantText,
  last_updated_at: instantText,
  creation_mode: z.enum(['ui', 'api', 'auto']),
  rate_limits: z.array(
    z.object({
      type: z.string(),
      unit: z.string(),
      value: z.int(),
    }),
  ),
  usage_limits: usageLimits,
  reset_usage: z.number(),
  scopes: z.array(z.string()),
  defaults: z.object({
    metadata: z.record(z.string(), z.unknown()),
    config_id: z.string(),
    allow_config_override: z.boolean(),
  }),
  alert_emails: z.array(z.email()),
  expires_at: instantText,
  object: z.literal('api-key'),
  last_reset_at: instantText.nullable(),
  last_rotated_at: instantText.nullable(),
  rotation_policy: z
    .object({
      rotation_period: z.enum(['weekly', 'monthly']).nullable(),
      rotation_period_days: z.int().nullable(),
      next_rotation_at: instantText.nullable(),
      key_transition_period_ms: z.int(),
      status: z.string(),
    })
    .nullable(),
});

const apiKeyObjectList = z.object({
  total: z.int(),
  object: z.literal('list'),
  data: z.array(apiKeyObject),
});

const rotateApiKeyResponse = z.object({
  id: z.uuid(),
  key: z.string(),
  key_transition_expires_at: instantText,
});

export const apiKeysEndpoints = {
  'api-keys.create': endpoint({
    operationId: 'postApiKeysTypeSubType',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{type}/{sub-type}',
    body: createApiKeyBody,
    answer: z.object({
      id: z.uuid(),
      key: z.string(),
      object: z.literal('api-key'),
    }),
  }),
  'api-keys.list': endpoint({
    operationId: 'getApiKeys',
    tag: 'Api-Keys',
    method: 'get',
    path: '/api-keys',
    query: listApiKeysQuery,
    answer: apiKeyObjectList,
  }),
  'api-keys.read': endpoint({
    operationId: 'getApiKeysId',
    tag: 'Api-Keys',
    method: 'get',
    path: '/api-keys/{id}',
    answer: apiKeyObject,
  }),
  'api-keys.update': endpoint({
    operationId: 'putApiKeysId',
    tag: 'Api-Keys',
    method: 'put',
    path: '/api-keys/{id}',
    body: updateApiKeyBody,
    answer: nothing,
  }),
  'api-keys.delete': endpoint({
    operationId: 'deleteApiKeysId',
    tag: 'Api-Keys',
    method: 'delete',
    path: '/api-keys/{id}',
    answer: nothing,
  }),
  'api-keys.rotate': endpoint({
    operationId: 'postApiKeysIdRotate',
    tag: 'Api-Keys',
    method: 'post',
    path: '/api-keys/{id}/rotate',
    body: rotateApiKeyBody.prefault({}),
    answer: rotateApiKeyResponse,
  }),
};
