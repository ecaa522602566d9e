import { type AdminCall, adminCaller } from './admin-call.ts';
import { initializeRequest, listedTools } from './tool-canned.ts';

/** Where tools and agents are called. */
export interface ToolPlaces {
  readonly mcp: Called;
  readonly agent: Called;
  /** The same MCP server in a workspace that enforces two patterns on what tools are asked; undefined = this subject has no guardrails. */
  readonly guardedMcp?: Called;
}

export interface Called {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ToolPlacesOptions {
  baseUrl: string;
  adminKey: string;
  workspaceId: string;
  upstreamOrigin: string;
}

/** How many of the listed tools are switched off, and how many have another name here. */
const switchedOff = 50;
const renamed = 50;

/**
 * An MCP server and an agent of the bench's upstream, with a policy on tools that
 * never refuses, and a session of a client that has begun.
 */
export async function openTools(options: ToolPlacesOptions): Promise<ToolPlaces> {
  const { baseUrl, workspaceId, upstreamOrigin } = options;
  const call = adminCaller(options);
  const origin = baseUrl.replace(/\/v1$/, '');
  const create = async (kind: 'mcp' | 'agent', integration: object) => {
    const { id } = await call<{ id: string }>('POST', `/${kind}-integrations`, {
      name: `Bench ${kind}`,
      slug: `bench-${kind}`,
      workspace_id: workspaceId,
      ...integration,
    });
    await call('POST', `/${kind}-servers`, {
      name: `Bench ${kind}`,
      slug: `bench-${kind}`,
      [`${kind}_integration_id`]: id,
      workspace_id: workspaceId,
    });
    return id;
  };
  const mcp = await create('mcp', {
    url: `${upstreamOrigin}/mcp`,
    transport: 'http',
    auth_type: 'none',
  });
  await create('agent', { url: `${upstreamOrigin}/agent`, protocol: 'a2a' });
  await call('POST', '/policies/rate-limits', {
    name: 'Bench limit of tools',
    workspace_id: workspaceId,
    target: 'mcp_tools',
    type: 'requests',
    unit: 'rpm',
    value: 100_000_000,
    conditions: [],
    group_by: [{ key: 'mcp_tool' }],
  });
  const named = (at: number) => `tool_${listedTools - 1 - at}`;
  await call('PUT', `/mcp-integrations/${mcp}/capabilities`, {
    capabilities: Array.from({ length: switchedOff }, (_, at) => ({
      name: named(at),
      type: 'tool',
      enabled: false,
    })),
  });
  await call('PUT', '/mcp-servers/bench-mcp/capabilities', {
    capabilities: Array.from({ length: renamed }, (_, at) => ({
      name: named(switchedOff + at),
      type: 'tool',
      enabled: true,
      renamed_to: `bench_${at}`,
    })),
  });
  const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'Tools bench',
    workspace_id: workspaceId,
    scopes: ['mcp.invoke', 'agents.invoke'],
  });
  const url = `${origin}/bench-mcp/mcp`;
  const headers = {
    'x-service-api-key': key,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const session = await begin(url, headers);
  return {
    mcp: { url, headers: { ...headers, ...session } },
    agent: { url: `${baseUrl}/agent/bench-agent/`, headers },
    guardedMcp: await openGuarded(call, origin, upstreamOrigin),
  };
}

/** None of the two finds anything: looking is what is measured. */
async function openGuarded(
  call: AdminCall,
  origin: string,
  upstreamOrigin: string,
): Promise<Called> {
  const { id: workspace } = await call<{ id: string }>('POST', '/admin/workspaces', {
    name: 'Guarded tools bench',
  });
  const slugs: string[] = [];
  for (const rule of ['(?:secret|hidden)\\s+plan', '\\b\\d{3}-\\d{2}-\\d{4}\\b']) {
    const { slug } = await call<{ slug: string }>('POST', '/guardrails', {
      name: `Pattern ${slugs.length}`,
      workspace_id: workspace,
      checks: [{ id: 'default.regexMatch', parameters: { rule, not: true } }],
      actions: { deny: true },
    });
    slugs.push(slug);
  }
  await call('PUT', `/admin/workspaces/${workspace}`, { defaults: { input_guardrails: slugs } });
  const { id } = await call<{ id: string }>('POST', '/mcp-integrations', {
    name: 'Guarded bench',
    slug: 'guarded-bench-mcp',
    workspace_id: workspace,
    url: `${upstreamOrigin}/mcp`,
    transport: 'http',
    auth_type: 'none',
  });
  await call('POST', '/mcp-servers', {
    name: 'Guarded bench',
    slug: 'guarded-bench-mcp',
    mcp_integration_id: id,
    workspace_id: workspace,
  });
  await call('POST', '/policies/rate-limits', {
    name: 'Bench limit of guarded tools',
    workspace_id: workspace,
    target: 'mcp_tools',
    type: 'requests',
    unit: 'rpm',
    value: 100_000_000,
    conditions: [],
    group_by: [{ key: 'mcp_tool' }],
  });
  const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'Guarded tools bench',
    workspace_id: workspace,
    scopes: ['mcp.invoke'],
  });
  const url = `${origin}/guarded-bench-mcp/mcp`;
  const headers = {
    'x-service-api-key': key,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  return { url, headers: { ...headers, ...(await begin(url, headers)) } };
}

/** @throws Error where no session is begun within a few seconds */
async function begin(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const reply = await fetch(url, {
    method: 'POST',
    headers,
    body: initializeRequest,
    signal: AbortSignal.timeout(10_000),
  });
  const text = await reply.text();
  const id = reply.headers.get('mcp-session-id');
  if (reply.status !== 200 || id === null)
    throw new Error(`initialize answered ${reply.status}: ${text.slice(0, 300)}`);
  return { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
}
