import { expect } from 'vitest';
import { adminOnly, both, type Context, type Examples, random } from '../../example.ts';

const kind = (type: string, subType: string) => async () => [{ type, 'sub-type': subType }];

const path = async ({ workspace }: Context) => {
  const body = { name: 'A key', scopes: ['completions.write'] };
  const answer = await workspace.post('/api-keys/workspace/service', body);
  expect(answer.status, answer.text).toBe(200);
  return [{ id: answer.body.id as string }];
};

const configOf = async ({ workspace }: Context) => {
  const config = await workspace.post('/configs', { name: 'A', config: { provider: '@demo' } });
  return config.body.data.slug as string;
};

/** What keys of every kind have, and may be changed. */
const changeable = () => ({
  name: 'A key',
  description: 'What it is for',
  scopes: ['configs.list'],
  rate_limits: [{ type: 'requests', unit: 'rps', value: 5 }],
  usage_limits: {
    credit_limit: 100,
    type: 'cost',
    alert_threshold: 90,
    periodic_reset: 'monthly',
    next_usage_reset_at: '2099-01-01T00:00:00Z',
  },
  defaults: { metadata: { team: 'a' }, allow_config_override: false },
  alert_emails: ['ops@example.org'],
  expires_at: '2099-06-01T00:00:00Z',
  rotation_policy: {
    rotation_period: 'monthly',
    next_rotation_at: '2099-01-01T00:00:00Z',
    key_transition_period_ms: 3_600_000,
  },
});

/** The same for a key of a workspace, which may have a config. */
const inWorkspace = async (context: Context) => ({
  ...changeable(),
  defaults: { ...changeable().defaults, config_id: await configOf(context) },
});

export const examples: Examples = {
  'api-keys.create': [
    {
      callers: adminOnly,
      path: kind('organisation', 'service'),
      pathNamesKind: true,
      body: ({ organisationId }) => ({
        ...changeable(),
        slug: `ops-${random()}`,
        organisation_id: organisationId,
      }),
    },
    {
      callers: both,
      names: 'body',
      path: kind('workspace', 'service'),
      pathNamesKind: true,
      body: inWorkspace,
    },
    {
      callers: both,
      names: 'body',
      path: kind('workspace', 'user'),
      pathNamesKind: true,
      body: async (context) => ({
        ...(await inWorkspace(context)),
        organisation_id: context.organisationId,
        user_id: context.ownerId,
      }),
    },
  ],
  'api-keys.list': { callers: both, names: 'query' },
  'api-keys.read': { callers: both, path },
  'api-keys.update': {
    callers: both,
    path,
    body: async (context) => ({ ...(await inWorkspace(context)), reset_usage: true }),
  },
  'api-keys.delete': { callers: both, path },
  'api-keys.suspend': { callers: both, path },
  'api-keys.resume': { callers: both, path },
  'api-keys.rotate': { callers: both, path, body: () => ({ key_transition_period_ms: 1_800_000 }) },
};
