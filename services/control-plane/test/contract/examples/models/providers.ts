import { both, type Context, type Examples, made, random } from '../../example.ts';

const integration = async ({ workspace }: Context) => {
  const { slug } = await made(workspace, 'integrations.create', {
    name: 'Made',
    ai_provider_id: 'openai',
    create_default_provider: false,
  });
  return slug;
};

const path = async (context: Context) => {
  const { id = '', slug = '' } = await made(context.workspace, 'providers.create', {
    name: 'Made',
    integration_id: await integration(context),
  });
  return [{ slug }, { slug: id }];
};

const changeable = () => ({
  name: 'A provider',
  note: 'What it is for',
  usage_limits: {
    credit_limit: 10,
    type: 'cost',
    alert_threshold: 5,
    periodic_reset: 'monthly',
    next_usage_reset_at: '2030-01-01T00:00:00Z',
  },
  rate_limits: { type: 'requests', unit: 'rpm', value: 100 },
  expires_at: '2090-01-01T00:00:00Z',
});

export const examples: Examples = {
  'providers.list': { callers: both, names: 'query' },
  'providers.create': {
    callers: both,
    names: 'body',
    body: async (context) => ({
      ...changeable(),
      integration_id: await integration(context),
      slug: `p-${random()}`,
    }),
  },
  'providers.read': {
    callers: both,
    names: 'query',
    path,
    query: () => ({ include_configurations: 'true' }),
  },
  'providers.update': {
    callers: both,
    names: 'query',
    path,
    body: () => ({ ...changeable(), reset_usage: true }),
  },
  'providers.delete': { callers: both, names: 'query', path },
};
