import { groupIdOf } from '../../../../src/limits/usage/group-id.ts';
import { dollars, report } from '../../../support/report.ts';
import { both, type Context, type Examples, made } from '../../example.ts';

const valueKey = 'metadata._user:alice';

/** A policy with one counter. */
const withEntity = async ({ h, workspace }: Context) => {
  const { id: policyId = '' } = await made(workspace, 'usage-limits-policies.create', {
    conditions: [{ key: 'api_key', value: '*' }],
    group_by: [{ key: 'metadata._user' }],
    type: 'cost',
    credit_limit: 100,
  });
  await report(h, [{ limitId: policyId, group: valueKey, posted: dollars(12.5) }]);
  return [{ policyUsageLimitsId: policyId, entityId: groupIdOf(valueKey) }];
};

const path = async (context: Context) =>
  (await withEntity(context)).map(({ policyUsageLimitsId }) => ({ policyUsageLimitsId }));

const changeable = () => ({
  name: 'A budget',
  description: 'What it is for',
  conditions: [{ key: 'model', value: ['@openai/*'], excludes: '@azure-openai/*' }],
  credit_limit: 1000,
  alert_threshold: 900,
  periodic_reset_days: 30,
  next_usage_reset_at: '2099-01-01T00:00:00Z',
  shadow: true,
  admission: 'strict',
  estimate: 'observed',
  without_shared: 'lease',
  unpriced: 'refuse',
});

export const examples: Examples = {
  'usage-limits-policies.list': {
    callers: both,
    names: 'query',
    query: () => ({ status: 'active' }),
  },
  'usage-limits-policies.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      ...changeable(),
      group_by: [{ key: 'metadata._user' }],
      type: 'requests',
      organisation_id: organisationId,
    }),
  },
  'usage-limits-policies.read': {
    callers: both,
    path,
    query: () => ({ status: 'active', include_usage: 'true' }),
  },
  'usage-limits-policies.update': {
    callers: both,
    path,
    body: () => ({ ...changeable(), reset_usage_for_value: valueKey }),
  },
  'usage-limits-policies.delete': { callers: both, path },
  'usage-limits-policies.entities.list': { callers: both, path },
  'usage-limits-policies.entities.reset': { callers: both, path: withEntity },
};
