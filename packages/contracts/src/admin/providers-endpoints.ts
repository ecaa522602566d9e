import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import { createProviderBody, listProvidersQuery, updateProviderBody } from './providers.ts';

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

const providers = z.object({
  name: z.string(),
  integration_id: z.string(),
  note: z.string().nullable(),
  status: z.enum(['active', 'exhausted', 'expired']),
  usage_limits: usageLimits,
  reset_usage: z.number().nullable(),
  created_at: instantText,
  slug: z.string(),
  rate_limits: z.array(rateLimits).nullable(),
  expires_at: instantText,
  object: z.literal('provider'),
  last_reset_at: instantText.nullable(),
  tags: z.record(z.string(), z.string()).nullable(),
});

export const providersEndpoints = {
  'providers.list': endpoint({
    operationId: 'getProviders',
    tag: 'Providers',
    method: 'get',
    path: '/providers',
    query: listProvidersQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(providers),
    }),
  }),
  'providers.create': endpoint({
    operationId: 'postProviders',
    tag: 'Providers',
    method: 'post',
    path: '/providers',
    body: createProviderBody,
    answer: z.object({
      id: z.string(),
      slug: z.string(),
    }),
  }),
  'providers.read': endpoint({
    operationId: 'getProvidersSlug',
    tag: 'Providers',
    method: 'get',
    path: '/providers/{slug}',
    answer: providers,
  }),
  'providers.update': endpoint({
    operationId: 'putProvidersSlug',
    tag: 'Providers',
    method: 'put',
    path: '/providers/{slug}',
    body: updateProviderBody,
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
    }),
  }),
  'providers.delete': endpoint({
    operationId: 'deleteProvidersSlug',
    tag: 'Providers',
    method: 'delete',
    path: '/providers/{slug}',
    answer: nothing,
  }),
};
