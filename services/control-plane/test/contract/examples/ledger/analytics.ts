import { both, type Examples } from '../../example.ts';

const filter = () => ({
  time_of_generation_min: '2025-01-01T00:00:00Z',
  time_of_generation_max: '2025-01-02T00:00:00Z',
  total_units_min: '0',
  total_units_max: '1000',
  prompt_token_min: '0',
  prompt_token_max: '1000',
  completion_token_min: '0',
  completion_token_max: '1000',
  cost_min: '0',
  cost_max: '10.5',
  weighted_feedback_min: '-10',
  weighted_feedback_max: '10',
  status_code: '200,429',
  virtual_keys: 'main,other',
  configs: 'pc-main',
  api_key_ids: 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  trace_id: 'a,b',
  span_id: 'a',
  prompt_slug: 'pp-main',
  ai_org_model: 'openai__gpt-4o',
  metadata: '{"team":"a"}',
});

const asked = { callers: both, query: filter };

const page = { current_page: '0', page_size: '10', order_by: 'requests', order_by_type: 'asc' };
const askedForGroups = { callers: both, query: () => ({ ...filter(), ...page }) };
const askedForColumns = {
  callers: both,
  path: async () => [{ groupBy: 'model' }],
  pathNamesKind: true as const,
  query: () => ({ ...filter(), ...page, columns: 'cost,p95_latency,last_seen' }),
};

export const examples: Examples = {
  'analytics.graphs.requests': asked,
  'analytics.graphs.cost': asked,
  'analytics.graphs.tokens': asked,
  'analytics.graphs.latency': asked,
  'analytics.graphs.users': asked,
  'analytics.graphs.users-requests': asked,
  'analytics.graphs.errors': asked,
  'analytics.graphs.errors-rate': asked,
  'analytics.graphs.errors-stacks': asked,
  'analytics.graphs.errors-status-codes': asked,
  'analytics.graphs.requests-rescued': asked,
  'analytics.graphs.cache-hit-rate': asked,
  'analytics.graphs.cache-latency': asked,
  'analytics.graphs.feedbacks': asked,
  'analytics.graphs.feedbacks-scores': asked,
  'analytics.graphs.feedbacks-weighted': asked,
  'analytics.graphs.feedbacks-ai-models': asked,
  'analytics.summary.cache': asked,
  'analytics.groups.users': askedForGroups,
  'analytics.groups.ai-models': askedForGroups,
  'analytics.groups.metadata': {
    ...askedForGroups,
    path: async () => [{ metadataKey: '_user' }],
    pathNamesKind: 'any' as const,
  },
  'analytics.groups.by': askedForColumns,
  'analytics.log-groups.by': askedForColumns,
};
