import { adminCaller } from './admin-call.ts';

/** Headers of the same request in workspaces that differ in their limits alone. */
export interface LimitedPlaces {
  without: Readonly<Record<string, string>>;
  /** A rate of requests and a budget of cost, by key. */
  rateAndBudget: Readonly<Record<string, string>>;
  /** Ten policies that all apply: rates of requests and of tokens, by key. */
  ten: Readonly<Record<string, string>>;
}

export interface LimitedWorkspacesOptions {
  baseUrl: string;
  adminKey: string;
  upstreamOrigin: string;
}

/** All limits are wide enough never to refuse: the counting is what is measured. */
export async function openLimitedWorkspaces(
  options: LimitedWorkspacesOptions,
): Promise<LimitedPlaces> {
  const call = adminCaller(options);
  const open = async (slug: string, addLimits: (workspace: string) => Promise<void>) => {
    const { id: workspace } = await call<{ id: string }>('POST', '/admin/workspaces', {
      name: `Limits bench, ${slug}`,
    });
    await call('POST', '/integrations', {
      name: 'Bench upstream',
      slug: `bench-${slug}`,
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id: workspace,
      configurations: { custom_host: `${options.upstreamOrigin}/v1` },
      create_default_provider: true,
      default_provider_slug: 'bench',
    });
    await addLimits(workspace);
    const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Limits bench',
      workspace_id: workspace,
      scopes: ['completions.write'],
    });
    return { 'x-service-api-key': key, 'x-service-provider': '@bench' };
  };
  const addRate = (workspace: string, name: string, type: 'requests' | 'tokens') =>
    call('POST', '/policies/rate-limits', {
      ...policyOf(workspace, name),
      type,
      unit: 'rpm',
      // As in `sluice.ts`: a minute at full speed is 200 million tokens.
      value: 100_000_000_000,
    });
  return {
    without: await open('without', async () => {}),
    rateAndBudget: await open('rate-and-budget', async (workspace) => {
      await addRate(workspace, 'Rate', 'requests');
      await call('POST', '/policies/usage-limits', {
        ...policyOf(workspace, 'Budget'),
        type: 'cost',
        credit_limit: 1_000_000,
        periodic_reset: 'monthly',
      });
    }),
    ten: await open('ten', async (workspace) => {
      for (let number = 0; number < 10; number++)
        await addRate(workspace, `Rate ${number}`, number % 2 === 0 ? 'requests' : 'tokens');
    }),
  };
}

function policyOf(workspace: string, name: string) {
  return {
    name,
    workspace_id: workspace,
    conditions: [{ key: 'workspace_id', value: workspace }],
    group_by: [{ key: 'api_key' }],
  };
}
