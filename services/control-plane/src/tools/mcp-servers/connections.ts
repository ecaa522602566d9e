import type { QueryOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { type Caller, isServiceKey } from '../../kernel/access/caller.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { mcpKind } from '../mcp-integrations/kind.ts';
import type { UserSignIns } from '../registry/registry.ts';
import { changeServer, reachServer } from '../registry/servers.ts';
import { markKeys } from '../upstream-oauth/connections-store.ts';
import { listConnections, removeConnections } from './connections-store.ts';

/** Sign-ins at the server behind: a user's own, or those an admin or a service key asks for. */
export async function listSignIns(
  call: AdminRequest,
  reference: string,
  query: QueryOf<'mcp-servers.connections.list'>,
) {
  const server = await reachServer(call, call.db, mcpKind, reference);
  return listConnections(call.db, server.id, whose(call.caller, query.user_id), query);
}

/** Forgets what a user has signed in with. One who is not signed in stays so: asking twice is no fault. */
export async function removeSignIn(
  call: AdminRequest,
  connections: UserSignIns,
  reference: string,
  query: QueryOf<'mcp-servers.connections.delete'>,
): Promise<void> {
  let revoke = async () => {};
  await changeServer(call, mcpKind, reference, async ({ db, describe, touchKey }, server) => {
    const userId = whose(call.caller, query.user_id);
    if (userId === undefined) throw invalidField('query.user_id', 'is required with a service key');
    const { id, workspaceId, integration } = server;
    if (integration !== null) revoke = await connections.revocable({ id, integration }, userId);
    const removed = await removeConnections(db, id, userId);
    // Gateways hold what the user was known by.
    if (removed > 0) for (const key of await markKeys(db, { workspaceId, userId })) touchKey(key);
    describe({ detail: { slug: server.slug, user_id: userId, connections: removed } });
  });
  await revoke();
}

/** Whose connections the caller means; undefined = everybody's. */
function whose(caller: Caller, userId: string | undefined): string | undefined {
  const asked = userId?.toLowerCase();
  if (isServiceKey(caller)) return asked;
  if (asked !== undefined && asked !== caller.userId && caller.role !== 'admin')
    throw new GatewayError('auth.missing_scope', {
      message: 'Only admins may look after the connections of others.',
    });
  return asked ?? caller.userId;
}
