import { adminOnly, both, type Context, type Examples, made } from '../../example.ts';

const settings = {
  name: 'Tickets',
  description: 'Where tickets are kept',
  url: 'https://mcp.example.org/mcp',
  auth_type: 'headers',
  transport: 'http',
  configurations: {
    custom_headers: { Authorization: 'Bearer token-of-tickets' },
    passthrough_header: { 'X-Tenant': 'a' },
  },
  secret_mappings: [],
};

/** One of the default workspace: both kinds of key reach it. */
export async function mcpIntegration(context: Context) {
  const { id, slug } = await made(context.workspace, 'mcp-integrations.create', settings);
  return { id: id ?? '', slug: slug ?? '' };
}

async function named(context: Context) {
  const { id, slug } = await mcpIntegration(context);
  return [{ mcpIntegrationId: id }, { mcpIntegrationId: slug }];
}

/** One of the organisation, which can be opened to workspaces. */
async function ofOrganisation({ admin }: Context) {
  const { id, slug } = await made(admin, 'mcp-integrations.create', settings);
  return [{ mcpIntegrationId: id ?? '' }, { mcpIntegrationId: slug ?? '' }];
}

/** An address where nobody answers: the answer says so. */
async function unreachable({ workspace }: Context) {
  const { id, slug } = await made(workspace, 'mcp-integrations.create', {
    ...settings,
    url: 'http://127.0.0.1:1999/mcp',
  });
  return [{ mcpIntegrationId: id ?? '' }, { mcpIntegrationId: slug ?? '' }];
}

const seenHash = 'ab'.repeat(32);

/** One whose server listed a tool. */
async function seen(context: Context) {
  const names = await named(context);
  const definition = { name: 'add', inputSchema: { type: 'object' } };
  await context.h.db.mcpPin.create({
    data: {
      integrationId: names[0]?.mcpIntegrationId ?? '',
      type: 'tool',
      name: 'add',
      pinnedHash: seenHash,
      pinnedDefinition: definition,
      seenHash,
      seenDefinition: definition,
      seenAt: new Date(),
    },
  });
  return names;
}

export const examples: Examples = {
  'mcp-integrations.list': {
    callers: both,
    names: 'query',
    query: ({ organisationId }) => ({
      organisation_id: organisationId,
      type: 'all',
      search: 'tickets',
    }),
  },
  'mcp-integrations.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      ...settings,
      organisation_id: organisationId,
      slug: `made-${crypto.randomUUID()}`,
    }),
  },
  'mcp-integrations.read': { callers: both, path: named },
  'mcp-integrations.update': { callers: both, path: named, body: () => settings },
  'mcp-integrations.delete': { callers: both, path: named },
  'mcp-integrations.workspaces.list': {
    callers: both,
    path: named,
    query: () => ({ version: '2' }),
  },
  'mcp-integrations.workspaces.update': {
    callers: adminOnly,
    path: ofOrganisation,
    body: ({ workspaceSlug }) => ({
      workspaces: [{ id: workspaceSlug, enabled: true }],
      global_workspace_access: { enabled: true },
      override_existing_workspace_access: true,
    }),
  },
  'mcp-integrations.capabilities.list': {
    callers: both,
    path: named,
    query: () => ({ type: 'tool' }),
  },
  'mcp-integrations.capabilities.update': {
    callers: both,
    path: named,
    body: () => ({ capabilities: [{ name: 'add', type: 'tool', enabled: false }] }),
  },
  'mcp-integrations.pins.list': {
    callers: both,
    path: seen,
    query: () => ({ type: 'tool', state: 'approved' }),
  },
  'mcp-integrations.pins.update': {
    callers: both,
    path: seen,
    body: () => ({ pins: [{ type: 'tool', name: 'add', hash: seenHash }] }),
  },
  'mcp-integrations.metadata.read': { callers: both, path: named },
  'mcp-integrations.test': { callers: both, path: unreachable },
};
