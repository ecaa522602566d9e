import { randomUUID } from 'node:crypto';
import { adminOnly, both, type Context, type Examples, made } from '../../example.ts';

/** A member of the organisation; of the default workspace too, if wanted. */
async function createUser(
  { h, organisationId, workspaceId }: Context,
  membership?: 'joined',
): Promise<string> {
  const id = randomUUID();
  await h.db.user.create({
    data: { id, organisationId, email: `${id}@example.org`, role: 'member' },
  });
  if (membership === 'joined')
    await h.db.workspaceMember.create({ data: { workspaceId, userId: id, role: 'member' } });
  return id;
}

const invite = ({ workspaceSlug }: Pick<Context, 'workspaceSlug'>) => ({
  email: `${randomUUID()}@example.org`,
  role: 'member',
  workspaces: [{ id: workspaceSlug, role: 'manager' }],
  workspace_api_key_details: { scopes: ['completions.write'] },
});

const invited = (context: Context) => made(context.admin, 'invites.create', invite(context));

const user = async (context: Context) => [{ userId: await createUser(context) }];
const inviteId = async (context: Context) => [{ inviteId: (await invited(context)).id ?? '' }];

/** A new member, by way of the workspace's UUID and of its slug. */
const member = async (context: Context) => {
  const { workspaceId, workspaceSlug } = context;
  const userId = await createUser(context, 'joined');
  return [
    { workspaceId, userId },
    { workspaceId: workspaceSlug, userId },
  ];
};

const workspace = async ({ workspaceId, workspaceSlug }: Context) => [
  { workspaceId },
  { workspaceId: workspaceSlug },
];

const email = 'somebody@example.org';

export const examples: Examples = {
  'users.list': { callers: adminOnly, query: () => ({ role: 'member', email }) },
  'users.read': { callers: adminOnly, path: user },
  'users.update': { callers: adminOnly, path: user, body: () => ({ role: 'admin' }) },
  'users.delete': { callers: adminOnly, path: user },

  'invites.list': {
    callers: adminOnly,
    query: () => ({ role: 'member', email, status: 'pending' }),
  },
  'invites.create': { callers: adminOnly, body: invite },
  'invites.read': { callers: adminOnly, path: inviteId },
  'invites.delete': { callers: adminOnly, path: inviteId },
  'invites.resend': { callers: adminOnly, path: inviteId },
  'invites.describe': { callers: adminOnly },
  'invites.accept': {
    callers: adminOnly,
    body: async (context) => {
      const { invite_link: link = '' } = await invited(context);
      return {
        token: new URL(link).searchParams.get('token'),
        first_name: 'Ann',
        last_name: 'Example',
      };
    },
  },

  'workspace-members.list': {
    callers: both,
    path: workspace,
    query: () => ({ role: 'member', email }),
  },
  'workspace-members.create': {
    callers: both,
    path: workspace,
    body: async (context) => ({
      users: [{ id: await createUser(context), role: 'manager' }],
    }),
  },
  'workspace-members.read': { callers: both, path: member },
  'workspace-members.update': { callers: both, path: member, body: () => ({ role: 'admin' }) },
  'workspace-members.delete': { callers: both, path: member },
};
