import { adminCaller } from './admin-call.ts';

/** Headers of the same request in workspaces that differ in what is kept of it. */
export interface KeepingPlaces {
  metrics: Readonly<Record<string, string>>;
  full: Readonly<Record<string, string>>;
}

export interface KeepingWorkspacesOptions {
  baseUrl: string;
  adminKey: string;
  upstreamOrigin: string;
}

export async function openKeepingWorkspaces(
  options: KeepingWorkspacesOptions,
): Promise<KeepingPlaces> {
  const call = adminCaller(options);
  const open = async (mode: 'metrics' | 'full') => {
    const { id: workspace } = await call<{ id: string }>('POST', '/admin/workspaces', {
      name: `Bodies bench, ${mode}`,
    });
    await call('PUT', `/admin/workspaces/${workspace}/settings`, { request_logging: { mode } });
    await call('POST', '/integrations', {
      name: 'Bench upstream',
      slug: `bench-bodies-${mode}`,
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id: workspace,
      configurations: { custom_host: `${options.upstreamOrigin}/v1` },
      create_default_provider: true,
      default_provider_slug: 'bench',
    });
    const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Bodies bench',
      workspace_id: workspace,
      scopes: ['completions.write'],
    });
    return { 'x-service-api-key': key, 'x-service-provider': '@bench' };
  };
  return { metrics: await open('metrics'), full: await open('full') };
}
