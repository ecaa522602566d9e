import { both, type Examples } from '../../example.ts';

const group = {
  conditions: [{ key: 'workspace_id', value: '*', excludes: 'other/*' }],
  group_by: [{ key: 'api_key' }],
};

export const examples: Examples = {
  'simulations.create': {
    callers: both,
    names: 'body',
    body: () => ({
      time_of_generation_min: '2025-01-01T00:00:00Z',
      time_of_generation_max: '2025-01-02T00:00:00Z',
      requests_max: 10,
      config: { provider: '@demo', override_params: { model: 'gpt-4o-mini' } },
      rate_limits: [{ ...group, name: 'ten', type: 'requests', unit: 'rpm', value: 10 }],
      usage_limits: [
        { ...group, name: 'a week', type: 'cost', credit_limit: 5, periodic_reset: 'weekly' },
      ],
      allowed_models: [{ provider: 'demo', models: ['gpt-4o-mini'] }],
    }),
  },
};
