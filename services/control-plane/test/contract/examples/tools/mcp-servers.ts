import { both, type Context, type Examples, made } from '../../example.ts';
import { mcpIntegration } from './mcp-integrations.ts';

async function server(context: Context) {
  const { id: mcp_integration_id } = await mcpIntegration(context);
  const { id, slug } = await made(context.workspace, 'mcp-servers.create', {
    name: 'Tickets',
    mcp_integration_id,
  });
  return [{ mcpServerId: id ?? '' }, { mcpServerId: slug ?? '' }];
}

/** To which the owner has signed in. */
async function connected(context: Context) {
  const names = await server(context);
  await context.h.db.mcpConnection.create({
    data: {
      serverId: names[0]?.mcpServerId ?? '',
      userId: context.ownerId,
      sealedTokens: Buffer.from('sealed'),
    },
  });
  return names;
}

const texts = { name: 'Tickets of ours', description: 'Where tickets are kept' };

export const examples: Examples = {
  'mcp-servers.list': {
    callers: both,
    names: 'query',
    query: () => ({ id: 'tickets,others', search: 'tickets' }),
  },
  'mcp-servers.create': {
    callers: both,
    names: 'body',
    body: async (context) => ({
      ...texts,
      slug: `made-${crypto.randomUUID()}`,
      mcp_integration_id: (await mcpIntegration(context)).slug,
    }),
  },
  'mcp-servers.read': { callers: both, path: server },
  'mcp-servers.update': { callers: both, path: server, body: () => texts },
  'mcp-servers.delete': { callers: both, path: server },
  'mcp-servers.test': { callers: both, path: server },
  'mcp-servers.capabilities.list': {
    callers: both,
    path: server,
    query: () => ({ type: 'tool' }),
  },
  'mcp-servers.capabilities.update': {
    callers: both,
    path: server,
    body: () => ({ capabilities: [{ name: 'add', type: 'tool', enabled: false }] }),
  },
  'mcp-servers.user-access.list': {
    callers: both,
    path: connected,
    query: () => ({ search: 'owner' }),
  },
  'mcp-servers.user-access.update': {
    callers: both,
    path: server,
    body: ({ ownerId }) => ({
      user_access: [{ user_id: ownerId, enabled: false }],
      default_user_access: 'deny',
    }),
  },
  'mcp-servers.connections.list': {
    callers: both,
    names: 'query',
    path: connected,
    query: ({ ownerId }) => ({ user_id: ownerId }),
  },
  'mcp-servers.connections.delete': {
    callers: both,
    names: 'query',
    path: connected,
    query: ({ ownerId }) => ({ user_id: ownerId }),
  },
  'mcp-servers.metadata.read': { callers: both, path: server },
  'mcp-registry.list': {
    callers: both,
    names: 'query',
    query: () => ({ limit: '50', search: 'tickets', updated_since: '2025-01-01T00:00:00Z' }),
  },
};
