import { GatewayError } from '@sluice/errors';
import { implementAll } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { namespaceOf, presentEntry } from './present.ts';
import { listRegistered } from './store.ts';

/** The servers that may be called, for clients that read the community's registry. */
export const mcpRegistryOperations = implementAll('mcp-registry', {
  list: async (call, { query }) => {
    const filter = {
      organisationId: call.caller.organisationId,
      workspaceId: await workspaceId(call, query.workspace_id),
      search: query.search,
      updatedSince: query.updated_since,
      after: query.cursor === undefined ? undefined : decodeCursor(query.cursor),
    };
    // One more than is shown tells whether there is another page.
    const found = await listRegistered(
      call.db,
      filter,
      namespaceOf(call.toolBase),
      query.limit + 1,
    );
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      servers: shown.map((row) => presentEntry(row, call.toolBase)),
      metadata: {
        count: shown.length,
        ...(found.length > query.limit && last !== undefined
          ? { nextCursor: encodeCursor(last) }
          : {}),
      },
    };
  },
});

/** Published: a workspace key that names another workspace is refused here, not corrected. */
async function workspaceId(call: AdminRequest, reference: string | undefined) {
  const { caller } = call;
  if (reference === undefined) return caller.workspaceId;
  const workspace = await findWorkspace(call.db, caller.organisationId, reference);
  if (caller.workspaceId !== undefined && workspace?.id !== caller.workspaceId)
    throw new GatewayError('auth.missing_scope', {
      message: 'This key belongs to another workspace.',
    });
  if (workspace === null)
    throw new GatewayError('admin.not_found', {
      field: 'query.workspace_id',
      message: 'No such workspace.',
    });
  return workspace.id;
}
