import { setTimeout as delay } from 'node:timers/promises';

export type Report = ReturnType<typeof openReport>;

/** Prints what was looked at, line by line, each with what was wrong with it. */
export function openReport() {
  let failed = false;
  return {
    report(what: string, faults: readonly unknown[] = []): void {
      process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${what}\n`);
      for (const fault of faults) process.stdout.write(`      ${fault}\n`);
      failed ||= faults.length > 0;
    },
    hasFailed: () => failed,
  };
}

/** Resolves with the first value; what is thrown before is tried again. */
export async function until<Value>(
  what: string,
  check: () => Promise<Value | undefined>,
): Promise<Value> {
  const end = Date.now() + 60_000;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const value = await check();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    await delay(250);
  }
  throw new Error(`${what}: not within a minute`, { cause: last });
}

/** Asks a gateway with a key; anything but 200 is an error. */
export const callerOf =
  (gateway: string) =>
  async (key: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`${gateway}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    if (response.status !== 200)
      throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
    return response;
  };

export interface WorkOptions {
  readonly gateway: string;
  readonly adminKey: string;
  readonly workspaceKey: string;
  /** Base of a provider in OpenAI's words. */
  readonly upstreamUrl: string;
  readonly report: Report['report'];
}

/** What an installation is for: a saved provider, a chat, a stream, both kinds of policies, analytics. */
export async function work({
  gateway,
  adminKey: admin,
  workspaceKey,
  upstreamUrl,
  report,
}: WorkOptions): Promise<void> {
  const call = callerOf(gateway);
  const { data } = (await (await call(admin, '/v1/admin/workspaces')).json()) as {
    data: { id: string }[];
  };
  const workspace = data[0]?.id;
  await call(admin, '/v1/integrations', {
    name: 'own',
    slug: 'own',
    ai_provider_id: 'openai',
    key: 'sk-saved',
    workspace_id: workspace,
    configurations: { custom_host: upstreamUrl },
    create_default_provider: true,
    default_provider_slug: 'own',
  });
  const chat = {
    model: '@own/gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
  };
  const answer = await until('a chat', async () => {
    const response = await call(workspaceKey, '/v1/chat/completions', chat);
    return (await response.json()) as { choices?: { message?: { content?: string } }[] };
  });
  report('a chat', answer.choices?.[0]?.message?.content ? [] : [JSON.stringify(answer)]);
  const stream = await call(workspaceKey, '/v1/chat/completions', { ...chat, stream: true });
  const events = await stream.text();
  report('a stream', events.trimEnd().endsWith('data: [DONE]') ? [] : [events.slice(-300)]);

  const common = {
    conditions: [{ key: 'workspace_id', value: workspace }],
    group_by: [{ key: 'api_key' }],
    workspace_id: workspace,
  };
  const policies = {
    'rate-limits': { name: 'rate', type: 'requests', unit: 'rpd', value: 3, ...common },
    'usage-limits': { name: 'budget', type: 'cost', credit_limit: 100, ...common },
  };
  for (const [kind, policy] of Object.entries(policies)) {
    const made = (await (await call(admin, `/v1/policies/${kind}`, policy)).json()) as {
      id?: string;
    };
    report(`a policy of ${kind}`, made.id === undefined ? [JSON.stringify(made)] : []);
  }
  const statuses: number[] = [];
  await until('the rate limit', async () => {
    const response = await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
      signal: AbortSignal.timeout(20_000),
    });
    await response.text();
    statuses.push(response.status);
    return response.status === 429 ? true : undefined;
  });
  const served = 2 + statuses.filter((status) => status === 200).length;
  report(
    `the limit of 3 a day holds (${statuses.join(', ')})`,
    statuses.length > 20 ? ['late'] : [],
  );

  const day = new Date().toISOString().slice(0, 10);
  const range = `time_of_generation_min=${day}T00:00:00Z&time_of_generation_max=${day}T23:59:59Z`;
  const total = async (graph: string) => {
    const response = await call(admin, `/v1/analytics/graphs/${graph}?${range}`);
    return ((await response.json()) as { summary: { total: number } }).summary.total;
  };
  const requests = await until('analytics', async () => {
    const counted = await total('requests');
    return counted >= served ? counted : undefined;
  });
  const cost = await total('cost');
  report(`analytics: ${requests} requests, ${cost} cents`, cost > 0 ? [] : ['no cost']);
}
