import { both, type Context, type Examples, made } from '../../example.ts';

const path = async ({ workspace }: Context) => {
  const { id = '' } = await made(workspace, 'rate-limits-policies.create', {
    conditions: [{ key: 'api_key', value: '*' }],
    group_by: [{ key: 'api_key' }],
    type: 'requests',
    unit: 'rpm',
    value: 100,
  });
  return [{ rateLimitsPolicyId: id }];
};

const changeable = () => ({
  name: 'A policy',
  description: 'What it is for',
  conditions: [{ key: 'model', value: ['@openai/*'], excludes: '@azure-openai/*' }],
  unit: 'rpw',
  value: 1000,
  shadow: true,
  admission: 'strict',
  estimate: 'observed',
  without_shared: 'share',
});

export const examples: Examples = {
  'rate-limits-policies.list': {
    callers: both,
    names: 'query',
    query: () => ({ status: 'active' }),
  },
  'rate-limits-policies.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      ...changeable(),
      group_by: [{ key: 'api_key' }],
      type: 'tokens',
      target: 'llm',
      organisation_id: organisationId,
    }),
  },
  'rate-limits-policies.read': { callers: both, path, query: () => ({ status: 'active' }) },
  'rate-limits-policies.update': { callers: both, path, body: changeable },
  'rate-limits-policies.delete': { callers: both, path },
};
