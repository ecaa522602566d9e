import { z } from 'zod';
import { instantField, instantText, referenceField } from '../../fields/fields.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { inOrder, requestRanges } from '../kernel/in-order.ts';
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
    mode: list,
    tool: list,
    metadata: metadata.optional(),
  })
  .superRefine(inOrder(...requestRanges));

const pages = pageQuery({ default: 100, min: 1, max: 1000 });

/** What groups are ordered by, the largest first unless they say otherwise. */
function groupQuery<const Column extends string>(columns: readonly Column[]) {
  return analyticsQuery.and(pages).and(
    z.object({
      order_by: z.enum(['requests', ...columns]).optional(),
      order_by_type: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['asc', 'desc']))
        .optional(),
    }),
  );
}

const access = { keys: anyKey, scopes: ['analytics.view'] } as const;

/** A graph: the numbers of its summary, and what its points tell, of a time unless they say of what else. */
function graph<Summary extends z.ZodRawShape, Point extends z.ZodRawShape>(
  operationId: string,
  summary: string,
  path: string,
  totals: Summary,
  point: Point,
) {
  return endpoint({
    operationId,
    summary,
    tag: 'Analytics > Graphs',
    method: 'get',
    path: `/analytics/graphs/${path}`,
    access,
    query: analyticsQuery,
    answer: z.object({
      summary: z.object(totals),
      data_points: z.array(z.object(point)),
      object: z.literal('analytics-graph'),
    }),
  });
}

/** The usual graph: the same numbers in its summary as at each point in time. */
function graphOverTime<Numbers extends z.ZodRawShape>(
  operationId: string,
  summary: string,
  path: string,
  numbers: Numbers,
) {
  return graph(operationId, summary, path, numbers, { timestamp: instantText, ...numbers });
}

const timestamp = instantText;
const whole = z.int();
const average = z.number();

const rows = <Row extends z.ZodRawShape>(row: Row) =>
  z.object({
    object: z.literal('list'),
    total: whole,
    data: z.array(z.object({ ...row, object: z.literal('analytics-group') })),
  });

/** Columns of groups that are shown to who asks for them. */
export const groupColumnNames = [
  'cost',
  'total_tokens',
  'avg_tokens',
  'avg_input_tokens',
  'avg_output_tokens',
  'avg_latency',
  'p95_latency',
  'p99_latency',
  'success_rate',
  'error_count',
  'cache_hit_rate',
  'prompt_cache_rate',
  'last_seen',
  'first_seen',
] as const;

/** What is grouped by, in the path. */
export const groupNames = [
  'ai_service',
  'model',
  'status_code',
  'api_key',
  'config',
  'workspace',
  'provider',
  'prompt',
  'tool',
  'mode',
] as const;

const columnsQuery = commaList()
  .pipe(z.array(z.enum(groupColumnNames)))
  .optional();

const groupBy = {
  method: 'get',
  pathValues: { groupBy: groupNames },
  query: groupQuery(groupColumnNames).and(z.object({ columns: columnsQuery })),
  answer: rows({
    ai_service: z.string().optional(),
    model: z.string().optional(),
    // As a parameter it says which requests are counted.
    status_code: whole.optional().meta({ description: 'The status.' }),
    api_key: z.string().optional(),
    config: z.string().optional(),
    workspace: z.string().optional(),
    provider: z.string().optional(),
    prompt: z.string().optional(),
    // As parameters they say which requests are counted.
    tool: z
      .string()
      .optional()
      .meta({ description: 'The tool, prompt or skill; of a resource its URI.' }),
    mode: z.string().optional().meta({ description: 'The endpoint, or the mode of a call.' }),
    requests: whole,
    cost: average.optional(),
    total_tokens: whole.optional(),
    avg_tokens: average.optional(),
    avg_input_tokens: average.optional(),
    avg_output_tokens: average.optional(),
    avg_latency: average.optional(),
    p95_latency: average.optional(),
    p99_latency: average.optional(),
    success_rate: average.optional(),
    error_count: whole.optional(),
    cache_hit_rate: average.optional(),
    prompt_cache_rate: average.optional(),
    last_seen: instantText.optional(),
    first_seen: instantText.optional(),
  }),
} as const;

export const analyticsEndpoints = {
  'analytics.graphs.requests': graphOverTime(
    'getAnalyticsGraphsRequests',
    'Count requests over time',
    'requests',
    {
      total: whole,
    },
  ),
  'analytics.graphs.cost': graphOverTime(
    'getAnalyticsGraphsCost',
    'Add up cost over time, in US cents',
    'cost',
    {
      total: z.number(),
      avg: average.meta({ description: 'The mean, of requests that cost anything.' }),
      unpriced: whole.meta({
        description:
          'How many used something that has no price: the cost is without it. What no price is known of at all is not among them.',
      }),
    },
  ),
  'analytics.graphs.latency': graphOverTime(
    'getAnalyticsGraphsLatency',
    'Show how long requests took, over time',
    'latency',
    {
      avg: average,
      p50: average,
      p90: average,
      p99: average,
    },
  ),
  'analytics.graphs.tokens': graphOverTime(
    'getAnalyticsGraphsTokens',
    'Add up tokens over time',
    'tokens',
    {
      total: whole,
      avg: average,
    },
  ),
  'analytics.graphs.users': graphOverTime(
    'getAnalyticsGraphsUsers',
    'Count the users who sent requests, over time',
    'users',
    { total: whole },
  ),
  'analytics.graphs.users-requests': graph(
    'getAnalyticsGraphsUsersRequests',
    'Count requests a user, over time',
    'users/requests',
    { total: whole, unique: whole, avg: average },
    { timestamp, avg: average },
  ),
  'analytics.graphs.errors': graphOverTime(
    'getAnalyticsGraphsErrors',
    'Count failed requests over time',
    'errors',
    { total: whole },
  ),
  'analytics.graphs.errors-rate': graphOverTime(
    'getAnalyticsGraphsErrorsRate',
    'Show what part of requests failed, over time',
    'errors/rate',
    {
      rate: average,
    },
  ),
  'analytics.graphs.errors-stacks': graph(
    'getAnalyticsGraphsErrorsStacks',
    'Count failed requests over time, by status',
    'errors/stacks',
    { total: whole },
    { timestamp, stats: z.array(z.object({ response_status_code: whole, count: whole })) },
  ),
  'analytics.graphs.errors-status-codes': graph(
    'getAnalyticsGraphsErrorsStatusCodes',
    'Count failed requests by status',
    'errors/status-codes',
    { total_errors: whole, unique_error_codes: whole },
    { status_code: whole, count: whole },
  ),
  'analytics.graphs.requests-rescued': graph(
    'getAnalyticsGraphsRequestsRescued',
    'Count requests that a retry or a fallback rescued',
    'requests/rescued',
    { retry: whole, fallback: whole },
    {
      timestamp,
      retry: z.array(z.object({ retry_success_count: whole, count: whole })),
      fallback: whole,
    },
  ),
  'analytics.graphs.cache-hit-rate': graph(
    'getAnalyticsGraphsCacheHitRate',
    'Show what part of requests the cache answered, over time',
    'cache/hit-rate',
    { total: whole, rate: average },
    {
      timestamp,
      simple_hits: whole,
      semantic_hits: whole,
      rate: average,
      cumulative_simple_cache_savings: z.number(),
      cumulative_semantic_cache_savings: z.number(),
    },
  ),
  'analytics.graphs.cache-latency': graph(
    'getAnalyticsGraphsCacheLatency',
    'Show how long answers from the cache took, over time',
    'cache/latency',
    {},
    { timestamp, avg: average },
  ),
  'analytics.graphs.feedbacks': graphOverTime(
    'getAnalyticsGraphsFeedbacks',
    'Count feedback over time',
    'feedbacks',
    {
      total: whole,
    },
  ),
  'analytics.graphs.feedbacks-scores': graph(
    'getAnalyticsGraphsFeedbacksScores',
    'Count feedback by its value',
    'feedbacks/scores',
    { total: whole },
    { score: whole, total: whole },
  ),
  'analytics.graphs.feedbacks-weighted': graphOverTime(
    'getAnalyticsGraphsFeedbacksWeighted',
    'Show weighted feedback over time',
    'feedbacks/weighted',
    { avg: average },
  ),
  'analytics.graphs.feedbacks-ai-models': graph(
    'getAnalyticsGraphsFeedbacksAiModels',
    'Show feedback by model',
    'feedbacks/ai-models',
    {},
    { ai_model: z.string(), total: whole, avg_weighted_feedback: average },
  ),
  'analytics.summary.cache': endpoint({
    operationId: 'getAnalyticsSummaryCache',
    summary: 'Sum up what the cache answered and saved',
    tag: 'Analytics > Summary',
    method: 'get',
    path: '/analytics/summary/cache',
    access,
    query: analyticsQuery,
    answer: z.object({
      summary: z.object({
        hits: whole,
        avg_latency: average,
        total_requests: whole,
        cache_speedup: average,
      }),
      object: z.literal('analytics-summary'),
    }),
  }),
  'analytics.groups.users': endpoint({
    operationId: 'getAnalyticsGroupsUsers',
    summary: 'Sum up requests and cost, a user a row',
    tag: 'Analytics > Groups',
    method: 'get',
    path: '/analytics/groups/users',
    access,
    query: groupQuery(['cost']),
    // Text, as published.
    answer: rows({ user: z.string(), requests: z.string(), cost: z.string() }),
  }),
  'analytics.groups.ai-models': endpoint({
    operationId: 'getAnalyticsGroupsAiModels',
    summary: 'Sum up requests and cost, a model a row',
    tag: 'Analytics > Groups',
    method: 'get',
    path: '/analytics/groups/ai-models',
    access,
    query: groupQuery(['cost']),
    // Text, as published.
    answer: rows({ ai_model: z.string(), requests: z.string() }),
  }),
  'analytics.groups.metadata': endpoint({
    operationId: 'getAnalyticsGroupsMetadataMetadataKey',
    summary: 'Sum up requests and cost, a value of a metadata key a row',
    tag: 'Analytics > Groups',
    method: 'get',
    path: '/analytics/groups/metadata/{metadataKey}',
    access,
    query: groupQuery([
      'cost',
      'avg_tokens',
      'avg_weighted_feedback',
      'requests_with_feedback',
      'last_seen',
    ]),
    answer: rows({
      metadata_value: z.string(),
      requests: whole,
      cost: z.number(),
      avg_tokens: average,
      avg_weighted_feedback: average,
      requests_with_feedback: whole,
      last_seen: instantText,
    }),
  }),
  'analytics.groups.by': endpoint({
    ...groupBy,
    operationId: 'getAnalyticsGroup',
    summary: 'Sum up requests and cost by a column',
    tag: 'Analytics > Groups',
    path: '/analytics/groups/{groupBy}',
    access,
  }),
  'analytics.log-groups.by': endpoint({
    ...groupBy,
    operationId: 'getLogsGroup',
    summary: 'Sum up logs by a column',
    tag: 'Logs',
    path: '/logs/groups/{groupBy}',
    access,
  }),
};
