import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { presentCollection } from './present.ts';
import {
  type CollectionRow,
  countPartials,
  findCollections,
  insertCollection,
  readContents,
  removeCollection,
  updateCollection,
} from './store.ts';

/** Deep enough for any filing, and shallow enough to walk up. */
const depthMax = 10;

export function reachCollection(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<CollectionRow> {
  return reachByReference(call, db, reference, findCollections);
}

/** The collection of this workspace that a field of the body names. */
export async function collectionInBody(
  db: Database,
  workspace: { id: string; organisationId: string },
  reference: string,
): Promise<CollectionRow> {
  const collection = await ownCollection(db, workspace, reference);
  if (collection === undefined)
    throw invalidField('body.collection_id', 'is no collection of this workspace');
  return collection;
}

export function createCollection(
  call: AdminRequest,
  body: BodyOf<'collections.create'>,
): Promise<CollectionRow> {
  return call.change(async ({ db, describe }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const parentId = await parentOf(db, workspace, undefined, body.parent_collection_id);
    const collection = await insertCollection(db, {
      id: newId(),
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      slug: body.slug ?? generateSlug('collection', body.name),
      name: body.name,
      parentId: parentId ?? null,
      createdAt: call.now,
      updatedAt: call.now,
    });
    describe({
      resourceId: collection.id,
      workspaceId: workspace.id,
      after: presentCollection(collection),
    });
    return collection;
  });
}

export function changeCollection(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'collections.update'>,
): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const collection = await reachCollection(call, db, reference);
    const workspace = { id: collection.workspaceId, organisationId: collection.organisationId };
    if (collection.isDefault && body.parent_collection_id != null)
      throw invalidField('body.parent_collection_id', 'cannot be set for the default collection');
    const after = await updateCollection(db, collection.id, {
      name: body.name,
      parentId: await parentOf(db, workspace, collection.id, body.parent_collection_id),
      updatedAt: call.now,
    });
    describe({
      resourceId: collection.id,
      workspaceId: workspace.id,
      before: presentCollection(collection),
      after: presentCollection(after),
    });
  });
}

/** Only an empty collection goes: prompts in it may be in use, and nobody asked for their end. */
export function deleteCollection(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const collection = await reachCollection(call, db, reference);
    if (collection.isDefault)
      throw new GatewayError('admin.not_found', {
        message: 'The default collection cannot be deleted.',
      });
    const contents = (await readContents(db, [collection.id]))(collection.id);
    const partials = await countPartials(db, collection.id);
    if (contents.children + contents.prompts + partials > 0)
      throw new GatewayError('admin.refused', {
        message: `The collection still holds ${contents.children} collections, ${contents.prompts} prompts and ${partials} partials.`,
      });
    await removeCollection(db, collection.id);
    describe({
      resourceId: collection.id,
      workspaceId: collection.workspaceId,
      before: presentCollection(collection),
    });
  });
}

async function ownCollection(
  db: Database,
  workspace: { id: string; organisationId: string },
  reference: string,
): Promise<CollectionRow | undefined> {
  const place = { organisationId: workspace.organisationId, workspaceId: workspace.id };
  const [collection] = await findCollections(db, { ...place, ...bySlugOrId(reference) });
  return collection;
}

/**
 * The id of the collection that `moved`, or a new one, shall stand in; null is the top, undefined no change.
 * @throws 404 when it is not there, 400 when it would stand below itself or too deep
 */
async function parentOf(
  db: Database,
  workspace: { id: string; organisationId: string },
  moved: string | undefined,
  reference: string | null | undefined,
): Promise<string | null | undefined> {
  if (reference === undefined || reference === null) return reference;
  const field = 'body.parent_collection_id';
  const parent = await ownCollection(db, workspace, reference);
  if (parent === undefined)
    throw new GatewayError('admin.not_found', { field, message: 'No such parent collection.' });
  let above: CollectionRow | undefined = parent;
  for (let depth = 1; above !== undefined; depth += 1) {
    if (above.id === moved)
      throw invalidField(field, 'must not be the collection itself or one below it');
    if (depth === depthMax) throw invalidField(field, `is nested ${depthMax} deep already`);
    above =
      above.parentId === null ? undefined : await ownCollection(db, workspace, above.parentId);
  }
  return parent.id;
}

function bySlugOrId(reference: string): { id: string } | { slug: string } {
  return isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference };
}
