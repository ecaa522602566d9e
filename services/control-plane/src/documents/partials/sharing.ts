import type { BodyOf } from '@sluice/contracts/admin';
import { actorOf } from '../../kernel/access/caller.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { isSharedWith, readShare, shareOf } from '../shares/share.ts';
import { addPartial, type PartialWithVersion, reachPartial, requireVersion } from './operations.ts';
import { findPartials, updatePartial } from './store.ts';

/** A partial for reading: one's own, or one that is shared. */
export async function readPartial(
  call: AdminRequest,
  reference: string,
): Promise<PartialWithVersion> {
  const partial = await reachByReference(call, call.db, reference, findPartials, {
    isShared: isSharedWith,
  });
  return { partial, version: await requireVersion(call.db, partial, partial.publishedVersion) };
}

/** Says who may look at a partial and copy it, beside its workspace; null is nobody. */
export function sharePartial(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'partials.share.create'> | null,
): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const partial = await reachPartial(call, db, reference);
    const share = body === null ? null : await readShare(db, partial.organisationId, body);
    await updatePartial(db, partial.id, {
      share: share === null ? noJson : { ...share },
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    const { id, slug } = partial;
    describe({
      resourceId: id,
      workspaceId: partial.workspaceId,
      before: { id, slug, share: shareOf(partial) },
      after: { id, slug, share },
    });
  });
}

/** Copies the published version of a partial, one's own or a shared one, as a partial of the caller's workspace. */
export function forkPartial(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'partials.fork'>,
): Promise<PartialWithVersion> {
  return call.change(async (change) => {
    const source = await reachByReference(call, change.db, reference, findPartials, {
      // What the body names as workspace is where the copy goes, not where the partial is.
      named: { field: 'path.promptPartialId', reference: undefined },
      isShared: isSharedWith,
    });
    const workspace = await requireWorkspace(
      change.db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const version = await requireVersion(change.db, source, source.publishedVersion);
    return addPartial(call, change, workspace, body.collection_id, {
      name: body.name ?? source.name,
      template: version.template,
      description: version.description,
    });
  });
}
