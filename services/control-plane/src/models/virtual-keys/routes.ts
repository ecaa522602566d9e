import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { usagesOf } from '../../limits/usage-limits/usages-of.ts';
import type { IntegrationParts } from '../integrations/operations.ts';
import { reachProvider } from '../providers/operations.ts';
import { listProviders } from '../providers/store.ts';
import { changeVirtualKey, createVirtualKey, deleteVirtualKey } from './operations.ts';
import { presentVirtualKey } from './present.ts';

/** Providers under the name they had before integrations: the same rows, credentials included. */
export function virtualKeyOperations(parts: IntegrationParts) {
  return implementAll('virtual-keys', {
    list: async (call, { query }) => {
      const workspace = await requireWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const { rows, total } = await listProviders(call.db, workspace.id, query);
      const usages = await usagesOf(call.db, rows);
      return listEnvelope(
        rows.map((row) => presentVirtualKey(row, call.now, usages)),
        total,
      );
    },
    create: async (call, { body }) => ({
      success: true as const,
      data: { slug: await createVirtualKey(call, body, parts) },
    }),
    read: async (call) => {
      const provider = await reachProvider(call, call.db, slugOf(call));
      return presentVirtualKey(provider, call.now, await usagesOf(call.db, [provider]));
    },
    update: (call, { body }) => changeVirtualKey(call, slugOf(call), body, parts),
    delete: (call, { query }) =>
      deleteVirtualKey(call, slugOf(call), { force: query.force, usersOf: parts.usersOfProvider }),
  });
}

function slugOf(call: AdminRequest): string {
  return pathParameter(call, 'slug');
}
