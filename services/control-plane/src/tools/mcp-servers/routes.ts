import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant, withMore } from '../../kernel/http/shapes.ts';
import { askServer } from '../mcp-integrations/ask-server.ts';
import { mcpKind } from '../mcp-integrations/kind.ts';
import { presentCounts, presentMetadata } from '../mcp-integrations/present.ts';
import { switchServerOffers } from '../registry/offers.ts';
import { listOffers } from '../registry/offers-store.ts';
import type { RegistryParts } from '../registry/registry.ts';
import { listReachableServers, reachServer } from '../registry/servers.ts';
import { changeAccess, listAccess } from '../registry/user-access.ts';
import { listSignIns, removeSignIn } from './connections.ts';
import { connectedUsers } from './connections-store.ts';
import { changeMcpServer, createMcpServer, deleteMcpServer, requireIntegration } from './merged.ts';
import { presentMcpServer, presentMcpServerDetail, presentServerCapability } from './present.ts';
import { requireShowable, showAs, shownOn } from './shown-as.ts';

const named = (call: AdminRequest) => pathParameter(call, 'mcpServerId');
const reach = (call: AdminRequest) => reachServer(call, call.db, mcpKind, named(call));

export function mcpServerOperations(parts: RegistryParts) {
  return {
    ...implementAll('mcp-servers', {
      list: async (call, { query }) => {
        const { rows, total } = await listReachableServers(call, mcpKind, query);
        return { data: rows.map((row) => presentMcpServer(row, call.toolBase)), total };
      },
      create: (call, { body }) => createMcpServer(call, body),
      read: async (call) => presentMcpServerDetail(await reach(call), call.toolBase, call.caller),
      update: (call, { body }) => changeMcpServer(call, named(call), body),
      delete: (call) => deleteMcpServer(call, parts.connections, named(call)),
      // Asks and tells; what the integration knows of the server is its owner's to renew.
      test: async (call) => {
        const { id, slug, workspaceId, integration } = await reach(call);
        const { answer } = await askServer(parts, requireIntegration(integration));
        await call.change(async ({ describe }) =>
          describe({ resourceId: id, workspaceId, detail: { slug, success: answer.success } }),
        );
        return answer;
      },
    }),
    ...implementAll('mcp-servers.capabilities', {
      list: async (call, { query }) => {
        const { id, integrationId } = await reach(call);
        const of = { integrationId, serverId: id };
        const found = await listOffers(call.db, mcpKind, of, query, query);
        const shown = await shownOn(call.db, id, found.rows);
        const data = found.rows.map((row) =>
          presentServerCapability(row, shown.get(`${row.type} ${row.name}`), call.caller),
        );
        return { ...withMore(data, found.total, query), counts: presentCounts(found.counts) };
      },
      update: async (call, { body }) => {
        requireShowable(body.capabilities);
        await switchServerOffers(call, mcpKind, named(call), body.capabilities, (change, server) =>
          showAs(change, server, body.capabilities, call.now),
        );
        return { success: true };
      },
    }),
    ...implementAll('mcp-servers.user-access', {
      list: async (call, { query }) => {
        const server = await reach(call);
        const access = await listAccess(call, mcpKind, server, query);
        const ids = access.data.map((user) => user.user_id);
        const connected = await connectedUsers(call.db, server.id, ids);
        const data = access.data.map((user) => ({
          ...user,
          connection_status: connected.has(user.user_id)
            ? ('connected' as const)
            : ('not_connected' as const),
        }));
        return { ...access, data };
      },
      update: async (call, { body }) => {
        await changeAccess(call, mcpKind, named(call), body);
        return { success: true };
      },
    }),
    ...implementAll('mcp-servers.connections', {
      list: async (call, { query }) => {
        const { rows, total } = await listSignIns(call, named(call), query);
        const data = rows.map((row) => ({
          user_id: row.userId,
          connected: row.connected,
          created_at: instant(row.createdAt),
          last_updated_at: instant(row.updatedAt),
        }));
        return withMore(data, total, query);
      },
      delete: async (call, { query }) => {
        await removeSignIn(call, parts.connections, named(call), query);
        return { success: true };
      },
    }),
    ...implementAll('mcp-servers.metadata', {
      read: async (call) => presentMetadata((await reach(call)).integration),
    }),
  };
}
