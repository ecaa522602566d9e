import { randomUUID } from 'node:crypto';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { reachActiveWorkspace } from './operations.ts';
import { updateWorkspace } from './store.ts';

/** As it is kept: a namespace, "" for the whole workspace, and what was drawn when it was emptied. */
export type CacheGenerations = readonly { namespace: string; generation: string }[];

/** More are emptied with all that the workspace has. */
const namespacesMax = 1000;

/**
 * Has every gateway forget the answers of a namespace, or of the workspace:
 * they keep and look for answers under another name from here on. Nothing is
 * counted, so that a database that was restored brings nothing back.
 */
export function emptyCache(
  call: AdminRequest,
  reference: string,
  namespace: string | undefined,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await reachActiveWorkspace(call, db, reference);
    const before = workspace.cacheGenerations as unknown as CacheGenerations;
    const others = before.filter((each) => each.namespace !== namespace);
    const isAll = namespace === undefined || others.length >= namespacesMax;
    const drawn = { namespace: isAll ? '' : namespace, generation: randomUUID() };
    const cacheGenerations = isAll ? [drawn] : [...others, drawn];
    await updateWorkspace(db, workspace.id, { cacheGenerations, updatedAt: call.now });
    touchWorkspace(workspace.id);
    describe({
      resourceId: workspace.id,
      workspaceId: workspace.id,
      after: { emptied_cache: isAll ? 'all' : namespace },
    });
  });
}
