import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { inDatabase, type TestStackOptions } from '@sluice/testkit';
import { type Scenario, startScenario } from '../scenario.ts';

export interface McpLab {
  readonly scenario: Scenario;
  /** Saves an integration and a server of it, both in force at every gateway. */
  save(settings: ServerSettings): Promise<SavedServer>;
  /** Saves a server made of others, in force at every gateway. */
  merge(
    members: readonly MemberSettings[],
    more?: Record<string, unknown>,
  ): Promise<{ slug: string; id: string }>;
  /** Addresses of a server, one a gateway. */
  urls(slug: string): string[];
  /** A key of its own in the workspace, which belongs to nobody else. */
  newKey(scopes?: readonly string[]): Promise<string>;
  connect(slug: string, options?: ConnectOptions): Promise<Connected>;
  stop(): Promise<void>;
}

export interface ServerSettings {
  readonly url: string;
  readonly transport?: 'http' | 'sse';
  readonly authType?: string;
  readonly configurations?: Record<string, unknown>;
  /** Other settings of the integration. */
  readonly more?: Record<string, unknown>;
}

export interface MemberSettings {
  readonly server_id: string;
  readonly tools?: readonly string[];
}

export interface SavedServer {
  readonly slug: string;
  readonly id: string;
  readonly integrationId: string;
}

export interface ConnectOptions {
  readonly key?: string;
  readonly capabilities?: ClientCapabilities;
  /** Before it connects: handlers. */
  readonly prepare?: (client: Client) => void;
  readonly headers?: Record<string, string>;
}

export interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** A running Sluice, and clients of others that know nothing of it. Requests go to its gateways in turn. */
export async function startMcpLab(options: TestStackOptions = {}): Promise<McpLab> {
  const scenario = await startScenario(options);
  const { credentials, gatewayUrls } = scenario.stack;
  let saved = 0;
  const urls = (slug: string) => gatewayUrls.map((origin) => `${origin}/${slug}/mcp`);
  const connected: Connected[] = [];

  return {
    scenario,
    urls,
    save(settings) {
      saved += 1;
      return saveServer(scenario, `server-${saved}`, settings);
    },
    async merge(members, more = {}) {
      saved += 1;
      const slug = `merged-${saved}`;
      const { id } = await scenario.admin<{ id: string }>('POST', '/mcp-servers', {
        name: slug,
        slug,
        members,
        workspace_id: credentials.workspace_id,
        ...more,
      });
      return { slug, id };
    },
    async newKey(scopes = ['mcp.invoke']) {
      saved += 1;
      const made = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
        name: `key-${saved}`,
        workspace_id: credentials.workspace_id,
        scopes,
      });
      return made.key;
    },
    async connect(slug, { key, capabilities = {}, prepare, headers } = {}) {
      const client = new Client({ name: 'stranger', version: '1' }, { capabilities });
      prepare?.(client);
      const [first = ''] = urls(slug);
      const transport = new StreamableHTTPClientTransport(new URL(first), {
        fetch: inTurn(urls(slug)),
        requestInit: {
          headers: { 'x-service-api-key': key ?? credentials.workspace_key, ...headers },
        },
      });
      await client.connect(transport);
      connected.push({ client, transport });
      return { client, transport };
    },
    async stop() {
      await Promise.all(connected.map(({ client }) => client.close()));
      await scenario.stop();
    },
  };
}

/** An integration and a server of it under one slug. */
export async function saveServer(
  { admin, stack }: Scenario,
  slug: string,
  { url, transport = 'http', authType = 'none', configurations = {}, more = {} }: ServerSettings,
): Promise<SavedServer> {
  const { workspace_id } = stack.credentials;
  const integration = await admin<{ id: string }>('POST', '/mcp-integrations', {
    name: slug,
    slug: `integration-of-${slug}`,
    url,
    transport,
    auth_type: authType,
    configurations,
    workspace_id,
    ...more,
  });
  const server = await admin<{ id: string }>('POST', '/mcp-servers', {
    name: slug,
    slug,
    mcp_integration_id: integration.id,
    workspace_id,
  });
  return { slug, id: server.id, integrationId: integration.id };
}

/** Each request to the next gateway. */
export function inTurn(
  urls: readonly string[],
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  let next = 0;
  return (_url, init) => {
    next += 1;
    return fetch(urls[next % urls.length] as string, init);
  };
}

export interface Person {
  readonly userId: string;
  readonly account: string;
  readonly key: string;
}

/** People with a user key of the workspace each. */
export async function peopleOf({ scenario }: McpLab, count: number): Promise<Person[]> {
  const { credentials, databaseUrl } = scenario.stack;
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await inDatabase(databaseUrl, (db) =>
    db.query(
      `INSERT INTO users (id, organisation_id, email, role)
        SELECT person::uuid, w.organisation_id, person || '@example.com', 'admin'
        FROM unnest($1::text[]) person, workspaces w WHERE w.id = $2::uuid`,
      [ids, credentials.workspace_id],
    ),
  );
  return Promise.all(
    ids.map(async (userId) => {
      const made = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/user', {
        name: 'For MCP',
        workspace_id: credentials.workspace_id,
        user_id: userId,
        scopes: ['mcp.invoke'],
      });
      return { userId, account: `account of ${userId}`, key: made.key };
    }),
  );
}
