import { adminOnly, both, type Context, type Examples, made, random } from '../../example.ts';

const path = async ({ h, admin }: Context) => {
  const { slug = '' } = await made(admin, 'workspaces.create', { name: 'Made' });
  const { id } = await h.db.workspace.findFirstOrThrow({ where: { slug } });
  return [{ workspaceId: slug }, { workspaceId: id }];
};

const changeable = () => ({
  name: 'A workspace',
  description: 'What it is for',
  defaults: { metadata: { environment: 'test' }, input_guardrails: [], output_guardrails: [] },
  usage_limits: [
    {
      credit_limit: 10,
      type: 'cost',
      alert_threshold: 5,
      periodic_reset: 'monthly',
      next_usage_reset_at: '2030-01-01T00:00:00Z',
    },
  ],
  rate_limits: [{ type: 'requests', unit: 'rpm', value: 100 }],
});

export const examples: Examples = {
  'workspaces.list': { callers: both, query: () => ({ status: 'active' }) },
  'workspaces.create': {
    callers: adminOnly,
    body: ({ ownerId }) => ({
      ...changeable(),
      slug: `team-${random()}`,
      users: [{ id: ownerId, role: 'manager' }],
    }),
  },
  'workspaces.read': { callers: adminOnly, path, query: () => ({ name_format: 'plain' }) },
  'workspaces.update': {
    callers: adminOnly,
    path,
    body: () => ({
      ...changeable(),
      defaults: { ...changeable().defaults, user_api_key_config: null },
    }),
  },
  'workspaces.delete': { callers: adminOnly, path },
  'workspaces.emptyCache': { callers: adminOnly, path, query: () => ({ namespace: 'of a team' }) },
};
