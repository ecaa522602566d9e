import { z } from 'zod';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { instantField, instantText, referenceField } from '../kernel/fields.ts';
import { commaList, pageQuery, queryInteger } from '../kernel/paging.ts';

const count = queryInteger(0, Number.MAX_SAFE_INTEGER).optional();
const number = z
  .string()
  .regex(/^-?\d{1,15}(\.\d{1,15})?$/, 'must be a number')
  .meta({ type: 'number' })
  .transform(Number);
const list = commaList().optional();

const metadata = z
  .string()
  .max(8192)
  .transform((text, context): Record<string, string> => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return Object.fromEntries(
          Object.entries(value).map(([key, inner]) => [
            key,
            typeof inner === 'string' ? inner : JSON.stringify(inner),
          ]),
        );
    } catch {
      // Reported below, together with what is JSON but not an object.
    }
    context.issues.push({ code: 'custom', message: 'must be a JSON object', input: text });
    return z.NEVER;
  });

/** The filters that every graph and group takes: alternatives within a list, all lists together. */
export const analyticsQuery = z
  .object({
    workspace_slug: referenceField.optional(),
    time_of_generation_min: instantField,
    time_of_generation_max: instantField,
    total_units_min: count,
    total_units_max: count,
    prompt_token_min: count,
    prompt_token_max: count,
    completion_token_min: count,
    completion_token_max: count,
    cost_min: number.pipe(z.number().min(0)).optional(),
    cost_max: number.pipe(z.number().min(0)).optional(),
    weighted_feedback_min: number.pipe(z.number().min(-10).max(10)).optional(),
    weighted_feedback_max: number.pipe(z.number().min(-10).max(10)).optional(),
    status_code: commaList()
      .pipe(z.array(queryInteger(100, 999)))
      .optional(),
    virtual_keys: list,
    configs: list,
    api_key_ids: list,
    trace_id: list,
    span_id: list,
    prompt_slug: list,
    ai_org_model: list,
    metadata: metadata.optional(),
  })
  .refine((query) => query.time_of_generation_min <= query.time_of_generation_max, {
    path: ['time_of_generation_max'],
    message: 'must not be before time_of_generation_min',
  });

const analyticsGroupQuery = analyticsQuery.and(pageQuery({ default: 100, max: 1000 }));

/** A graph of these numbers: each in the summary, and at each point in time. */
function graph<Numbers extends Record<string, z.ZodType<number>>>(
  operationId: string,
  path: string,
  numbers: Numbers,
) {
  return endpoint({
    operationId,
    tag: 'Analytics > Graphs',
    method: 'get',
    path: `/analytics/graphs/${path}`,
    access: { keys: anyKey, scopes: ['analytics.view'] },
    query: analyticsQuery,
    answer: z.object({
      summary: z.object(numbers),
      data_points: z.array(z.object({ timestamp: instantText, ...numbers })),
      object: z.literal('analytics-graph'),
    }),
  });
}

export const analyticsEndpoints = {
  'analytics.graphs.requests': graph('getAnalyticsGraphsRequests', 'requests', { total: z.int() }),
  'analytics.graphs.cost': graph('getAnalyticsGraphsCost', 'cost', {
    total: z.number(),
    avg: z.number(),
  }),
  'analytics.graphs.latency': graph('getAnalyticsGraphsLatency', 'latency', {
    avg: z.number(),
    p50: z.number(),
    p90: z.number(),
    p99: z.number(),
  }),
  'analytics.graphs.tokens': graph('getAnalyticsGraphsTokens', 'tokens', {
    total: z.int(),
    avg: z.number(),
  }),
  'analytics.groups.ai-models': endpoint({
    operationId: 'getAnalyticsGroupsAiModels',
    tag: 'Analytics > Groups',
    method: 'get',
    path: '/analytics/groups/ai-models',
    access: { keys: anyKey, scopes: ['analytics.view'] },
    query: analyticsGroupQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(
        z.object({
          ai_model: z.string(),
          // Text, as published.
          requests: z.string(),
          object: z.literal('analytics-group'),
        }),
      ),
    }),
  }),
};
