import type { SluiceCredentials } from '@sluice/stack';

/** Where the demo MCP server and the demo agent are called through the gateway. */
export interface DemoTools {
  mcpUrl: string;
  agentUrl: string;
}

interface Kind {
  /** Below `/v1`; its servers are `mcp-servers`, `agent-servers`. */
  readonly prefix: 'mcp' | 'agent';
  readonly name: string;
  readonly path: string;
  readonly more: Readonly<Record<string, unknown>>;
}

interface Item {
  readonly id: string;
  readonly slug: string;
  readonly url: string;
}

const slug = 'demo';
const kinds: readonly Kind[] = [
  {
    prefix: 'mcp',
    name: 'Demo MCP server',
    path: '/mcp',
    more: { transport: 'http', auth_type: 'none', configurations: {} },
  },
  { prefix: 'agent', name: 'Demo agent', path: '/agent', more: {} },
];

/**
 * Registers the demo upstream's MCP server and agent, by the admin API as anybody would.
 * At later starts only their addresses are kept up to date: what somebody removed stays away.
 * @param demoUrl  origin of the demo upstream
 * @returns where they are called; undefined where one of them is not there any more
 * @throws Error with the answer of the admin API
 */
export async function registerDemoTools(
  credentials: SluiceCredentials,
  demoUrl: string,
  isFirstStart: boolean,
): Promise<DemoTools | undefined> {
  async function admin<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${credentials.base_url}${path}`, {
      method,
      headers: {
        'x-service-api-key': credentials.admin_key,
        'content-type': 'application/json',
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  const { workspace_id } = credentials;
  const find = async (list: string, query = ''): Promise<Item | undefined> => {
    const path = `/${list}?search=${slug}&page_size=100${query}`;
    const { data } = await admin<{ data: Item[] }>('GET', path);
    return data.find((item) => item.slug === slug);
  };

  async function register({ prefix, name, path, more }: Kind): Promise<string | undefined> {
    const url = `${demoUrl}${path}`;
    const known = await find(`${prefix}-integrations`);
    if (known === undefined && !isFirstStart) return undefined;
    if (known !== undefined && known.url !== url)
      await admin('PUT', `/${prefix}-integrations/${known.id}`, { url });
    if (known === undefined) {
      const { id } = await admin<Item>('POST', `/${prefix}-integrations`, {
        name,
        slug,
        url,
        ...more,
      });
      await admin('PUT', `/${prefix}-integrations/${id}/workspaces`, {
        workspaces: [{ id: workspace_id, enabled: true }],
      });
      await admin('POST', `/${prefix}-servers`, {
        name,
        slug,
        [`${prefix}_integration_id`]: id,
        workspace_id,
      });
    }
    return (await find(`${prefix}-servers`, `&workspace_id=${workspace_id}`))?.url;
  }

  const [mcpUrl, agentUrl] = await Promise.all(kinds.map(register));
  return mcpUrl === undefined || agentUrl === undefined ? undefined : { mcpUrl, agentUrl };
}
