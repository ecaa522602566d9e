import type { TestStackOptions } from '@sluice/testkit';
import { type Records, readRecords } from '../records.ts';
import { type Scenario, startScenario } from '../scenario.ts';

/** A running Sluice with agents, whose usage records are read from NATS. */
export interface AgentLab {
  readonly scenario: Scenario;
  readonly records: Records;
  /** Saves an integration and a server of it. */
  save(url: string, more?: object): Promise<SavedAgent>;
  /** A key of its own in the workspace. */
  newKey(more?: object): Promise<string>;
  /** One request at an agent's address; `path` follows its slash. */
  ask(slug: string, path: string, options?: AskOptions): Promise<Response>;
  /** A message in JSON-RPC. */
  rpc(slug: string, method: string, params: unknown, options?: AskOptions): Promise<Response>;
  stop(): Promise<void>;
}

export interface SavedAgent {
  readonly slug: string;
  readonly id: string;
  readonly integrationId: string;
  /** As callers are given it. */
  readonly url: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly gateway?: number;
}

export async function startAgentLab(options: TestStackOptions = {}): Promise<AgentLab> {
  const scenario = await startScenario({ ...options, nats: true });
  const records = await readRecords(scenario.stack.nats?.url ?? '');
  const { credentials, gatewayUrls } = scenario.stack;
  const { workspace_id } = credentials;
  let saved = 0;
  const lab: AgentLab = {
    scenario,
    records,
    async save(url, more = {}) {
      saved += 1;
      const slug = `agent-${saved}`;
      const { id: integrationId } = await scenario.admin<{ id: string }>(
        'POST',
        '/agent-integrations',
        { name: slug, slug, url, ...more },
      );
      await scenario.admin('PUT', `/agent-integrations/${integrationId}/workspaces`, {
        workspaces: [{ id: workspace_id, enabled: true }],
      });
      const { id } = await scenario.admin<{ id: string }>('POST', '/agent-servers', {
        name: slug,
        slug,
        agent_integration_id: integrationId,
        workspace_id,
      });
      const shown = await scenario.admin<{ slug: string; url: string }>(
        'GET',
        `/agent-servers/${id}`,
      );
      return { slug: shown.slug, id, integrationId, url: shown.url };
    },
    async newKey(more = {}) {
      const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
        name: `caller-${Math.random()}`,
        workspace_id,
        scopes: ['agents.invoke'],
        ...more,
      });
      return key;
    },
    ask(slug, path, { method = 'GET', key, headers, body, signal, gateway = 0 } = {}) {
      return fetch(`${gatewayUrls[gateway]}/v1/agent/${slug}/${path}`, {
        method,
        headers: {
          'x-service-api-key': key ?? credentials.workspace_key,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body,
        signal,
        redirect: 'manual',
      });
    },
    rpc(slug, method, params, over) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'call-1', method, params });
      return lab.ask(slug, '', { method: 'POST', body, ...over });
    },
    async stop() {
      await records.close();
      await scenario.stop();
    },
  };
  return lab;
}
