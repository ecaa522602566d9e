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

export const examples: Examples = {
  'analytics.graphs.requests': asked,
  'analytics.graphs.cost': asked,
  'analytics.graphs.tokens': asked,
  'analytics.graphs.latency': asked,
  'analytics.groups.ai-models': asked,
};
