import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { usagesOf } from '../../limits/usage-limits/usages-of.ts';
import type { UsersOfProvider } from './in-use.ts';
import { changeProvider, createProvider, deleteProvider, reachProvider } from './operations.ts';
import { presentProvider } from './present.ts';
import { listProviders } from './store.ts';

export const providerOperations = (usersOf: UsersOfProvider) =>
  implementAll('providers', {
    list: async (call, { query }) => {
      const workspace = await requireWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const { rows, total } = await listProviders(call.db, workspace.id, query);
      const usages = await usagesOf(call.db, rows);
      return listEnvelope(
        rows.map((row) => presentProvider(row, call.now, usages)),
        total,
      );
    },
    create: (call, { body }) => createProvider(call, body),
    read: async (call) => {
      const provider = await reachProvider(call, call.db, slugOf(call));
      return presentProvider(provider, call.now, await usagesOf(call.db, [provider]));
    },
    update: (call, { body }) => changeProvider(call, slugOf(call), body),
    delete: (call, { query }) =>
      deleteProvider(call, slugOf(call), { force: query.force, usersOf }),
  });

function slugOf(call: AdminRequest): string {
  return pathParameter(call, 'slug');
}
