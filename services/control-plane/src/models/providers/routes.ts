import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminCall, Operation } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { changeProvider, createProvider, deleteProvider, reachProvider } from './operations.ts';
import { presentProvider } from './present.ts';
import { listProviders } from './store.ts';

export const providerOperations: readonly Operation[] = [
  implement('providers.list', async (call, { query }) => {
    const workspace = await requireWorkspace(
      call.db,
      call.caller,
      namedWorkspace(undefined, call.query),
    );
    const { rows, total } = await listProviders(call.db, workspace.id, query);
    return listEnvelope(
      rows.map((row) => presentProvider(row, call.now)),
      total,
    );
  }),
  implement('providers.create', (call, { body }) => createProvider(call, body)),
  implement('providers.read', async (call) =>
    presentProvider(await reachProvider(call, call.db, slugOf(call)), call.now),
  ),
  implement('providers.update', (call, { body }) => changeProvider(call, slugOf(call), body)),
  implement('providers.delete', async (call) => {
    await deleteProvider(call, slugOf(call));
    return {};
  }),
];

function slugOf(call: AdminCall): string {
  return pathParameter(call, 'slug');
}
