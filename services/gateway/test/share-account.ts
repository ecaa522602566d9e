import type { Upstream } from '@sluice/testkit';
import type { Scenario } from './scenario.ts';

/** Of two workspaces; the key of the second one. */
export async function shareAccount(
  { admin, stack }: Scenario,
  slug: string,
  upstream: Pick<Upstream, 'url'>,
  provider = 'openai',
  account: { key?: string; configurations?: object } = {},
): Promise<string> {
  const made = await admin<{ id: string; workspace_id?: string }>('POST', '/admin/workspaces', {
    name: `Beside ${slug}`,
  });
  const beside = made.workspace_id ?? made.id;
  await admin('POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: provider,
    key: 'sk-shared',
    configurations: { custom_host: `${upstream.url}/v1`, lists: 'own' },
    ...account,
    create_default_provider: false,
  });
  await admin('PUT', `/integrations/${slug}/workspaces`, {
    workspaces: [stack.credentials.workspace_id, beside].map((id) => ({
      id,
      enabled: true,
      create_default_provider: true,
      default_provider_slug: slug,
    })),
  });
  const { key } = await admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: slug,
    workspace_id: beside,
    scopes: ['completions.write'],
  });
  return key;
}
