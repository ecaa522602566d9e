import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantField, instantText, nameField, referenceField } from './fields.ts';
import { pageQuery } from './paging.ts';

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

const secretMapping = z.object({
  target_field: z.string(),
  secret_reference_id: z.string(),
  secret_key: z.string().nullable(),
  value_format: z.enum(['json', 'string']).nullable(),
});

const virtualKeys = z.object({
  name: z.string(),
  note: z.string().nullable(),
  status: z.enum(['active', 'exhausted']),
  usage_limits: usageLimits,
  reset_usage: z.number().nullable(),
  created_at: instantText,
  slug: z.string(),
  model_config: z.record(z.string(), z.unknown()),
  rate_limits: z.array(rateLimits).nullable(),
  expires_at: instantText,
  secret_mappings: z.array(secretMapping),
  object: z.literal('virtual-key'),
});

const usageLimitsInput = z.object({
  credit_limit: z.int().min(1).optional(),
  type: z.enum(['cost', 'tokens']).optional(),
  alert_threshold: z.int().min(1).optional(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable().optional(),
  periodic_reset_days: z.int().min(1).max(365).nullable().optional(),
  next_usage_reset_at: instantField.nullable().optional(),
});

const rateLimitsInput = z.object({
  type: z.enum(['requests', 'tokens']).optional(),
  unit: z.enum(['rpd', 'rph', 'rpm']).optional(),
  value: z.int().optional(),
});

const secretMappingInput = z.object({
  target_field: z.string(),
  secret_reference_id: referenceField,
  secret_key: z.string().nullable().optional(),
  value_format: z.enum(['json', 'string']).nullable().optional(),
});

export const virtualKeysEndpoints = {
  'virtual-keys.list': endpoint({
    operationId: 'getVirtualKeys',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'get',
    path: '/virtual-keys',
    query: pageQuery({ default: 50, max: 1000 }),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(virtualKeys),
    }),
    errors: [401],
  }),
  'virtual-keys.create': endpoint({
    operationId: 'postVirtualKeys',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'post',
    path: '/virtual-keys',
    body: z.object({
      name: nameField.optional(),
      provider: z
        .enum([
          'openai',
          'azure-openai',
          'ai21',
          'anthropic',
          'anyscale',
          'bedrock',
          'cohere',
          'deepinfra',
          'fireworks-ai',
          'google',
          'groq',
          'hugging-face',
          'jina',
          'lingyi',
          'mistral-ai',
          'monsterapi',
          'moonshot',
          'nomic',
          'novita-ai',
          'open-ai',
          'openrouter',
          'palm',
          'perplexity-ai',
          'predibase',
          'reka-ai',
          'segmind',
          'stability-ai',
          'together-ai',
          'vertex-ai',
          'workers-ai',
          'zhipu',
        ])
        .optional(),
      key: z.string().optional(),
      note: z.string().nullable().optional(),
      apiVersion: z.string().nullable().optional(),
      resourceName: z.string().nullable().optional(),
      deploymentName: z.string().nullable().optional(),
      workspace_id: referenceField.optional(),
      deploymentConfig: z
        .array(
          z.object({
            apiVersion: z.string(),
            alias: z.string().optional(),
            is_default: z.boolean().optional(),
            deploymentName: z.string(),
          }),
        )
        .optional(),
      usage_limits: usageLimitsInput.optional(),
      rate_limits: rateLimitsInput.optional(),
      expires_at: instantField.optional(),
      secret_mappings: z.array(secretMappingInput).optional(),
    }),
    answer: z.object({
      success: z.boolean(),
      data: z.object({
        slug: z.string(),
      }),
    }),
    errors: [401],
  }),
  'virtual-keys.read': endpoint({
    operationId: 'getVirtualKeysSlug',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'get',
    path: '/virtual-keys/{slug}',
    answer: virtualKeys,
    errors: [401],
  }),
  'virtual-keys.update': endpoint({
    operationId: 'putVirtualKeysSlug',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'put',
    path: '/virtual-keys/{slug}',
    body: z.object({
      name: nameField.optional(),
      key: z.string().optional(),
      note: z.string().nullable().optional(),
      deploymentConfig: z
        .array(
          z.object({
            apiVersion: z.string(),
            alias: z.string().optional(),
            is_default: z.boolean().optional(),
            deploymentName: z.string(),
          }),
        )
        .optional(),
      usage_limits: usageLimitsInput.optional(),
      secret_mappings: z.array(secretMappingInput).optional(),
    }),
    answer: nothing,
    errors: [401],
  }),
  'virtual-keys.delete': endpoint({
    operationId: 'deleteVirtualKeysSlug',
    tag: 'Virtual-keys',
    errorForm: 'virtual-key',
    method: 'delete',
    path: '/virtual-keys/{slug}',
    answer: nothing,
    errors: [401],
  }),
};
