import { adminOnly, type Context, type Examples, made } from '../../example.ts';

const authConfig = {
  aws_auth_type: 'assumedRole',
  aws_role_arn: 'arn:aws:iam::123456789012:role/reader-of-secrets',
  aws_external_id: 'external-id-of-ours',
  aws_region: 'eu-central-1',
};

async function reference({ admin }: Context) {
  const { id, slug } = await made(admin, 'secret-references.create', {
    name: 'Made',
    manager_type: 'aws_sm',
    auth_config: authConfig,
    secret_path: 'prod/openai',
  });
  return [id, slug].map((secretReferenceId) => ({ secretReferenceId: secretReferenceId ?? '' }));
}

const changes = (context: Context) => ({
  name: 'Key of OpenAI',
  description: 'In the vault of production',
  auth_config: authConfig,
  secret_path: 'prod/openai',
  secret_key: 'api_key',
  allow_all_workspaces: false,
  allowed_workspaces: [context.workspaceSlug],
  tags: { team: 'search' },
});

export const examples: Examples = {
  'secret-references.list': {
    callers: adminOnly,
    query: () => ({
      manager_type: 'aws_sm',
      tags: '{"team":"search"}',
      search: 'openai',
    }),
  },
  'secret-references.create': {
    callers: adminOnly,
    body: (context) => ({
      organisation_id: context.organisationId,
      slug: `made-${crypto.randomUUID()}`,
      manager_type: 'aws_sm',
      ...changes(context),
    }),
  },
  'secret-references.read': { callers: adminOnly, path: reference },
  'secret-references.update': { callers: adminOnly, path: reference, body: changes },
  'secret-references.delete': { callers: adminOnly, path: reference },
};
