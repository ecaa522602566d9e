import type { BodyOf } from '@sluice/contracts/admin';
import { parseTemplate } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { WorkspaceRow } from '../../kernel/tenancy/find-workspace.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { collectionInBody } from '../collections/operations.ts';
import { findDefaultCollection } from '../collections/store.ts';
import { templateRefusal } from '../prompts/content.ts';
import { missingPartials } from '../prompts/missing-partials.ts';
import { usersOfPartial } from './named-by.ts';
import { presentPartial } from './present.ts';
import {
  describeVersion,
  findPartials,
  findVersion,
  insertPartial,
  insertVersion,
  type PartialRow,
  type PartialVersionRow,
  removePartial,
  updatePartial,
} from './store.ts';

export interface PartialWithVersion {
  partial: PartialRow;
  version: PartialVersionRow;
}

/** The partial a path names, in order to change it or to look at its history. */
export function reachPartial(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<PartialRow> {
  return reachByReference(call, db, reference, findPartials);
}

export async function requireVersion(
  db: Database,
  partial: PartialRow,
  number: number,
): Promise<PartialVersionRow> {
  const version = await findVersion(db, partial.id, number);
  if (version === null) throw new GatewayError('admin.not_found', { message: 'No such version.' });
  return version;
}

export function createPartial(
  call: AdminRequest,
  body: BodyOf<'partials.create'>,
): Promise<PartialWithVersion> {
  checkTemplate(body.string);
  return call.change(async (change) => {
    const workspace = await requireWorkspace(
      change.db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    return addPartial(call, change, workspace, body.collection_id, {
      name: body.name,
      slug: body.slug,
      template: body.string,
      description: body.version_description ?? null,
    });
  });
}

/** Writes a partial with its first version, which is published at once. */
export async function addPartial(
  call: AdminRequest,
  { db, describe, touchWorkspace }: Change,
  workspace: WorkspaceRow,
  collectionReference: string | undefined,
  made: { name: string; slug?: string | undefined; template: string; description: string | null },
): Promise<PartialWithVersion> {
  const { name, slug, ...content } = made;
  const collection =
    collectionReference === undefined
      ? await findDefaultCollection(db, workspace.id)
      : await collectionInBody(db, workspace, collectionReference);
  const actor = actorOf(call.caller);
  await warnOfMissing(call, db, workspace.id, content.template);
  const created = await insertPartial(
    db,
    {
      id: newId(),
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      collectionId: collection.id,
      slug: slug ?? generateSlug('partial', name),
      name,
      ownerId: actor,
      updatedBy: actor,
      createdAt: call.now,
      updatedAt: call.now,
    },
    content,
  );
  touchWorkspace(workspace.id);
  describe({
    resourceId: created.partial.id,
    workspaceId: workspace.id,
    after: presentPartial(created.partial, created.version),
  });
  return created;
}

/** Another text is a new version, which is published by nobody but `publishVersion`. */
export function changePartial(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'partials.update'>,
): Promise<PartialWithVersion> {
  if (body.string !== undefined) checkTemplate(body.string);
  return changeReached(call, reference, async (db, partial) => {
    const place = { id: partial.workspaceId, organisationId: partial.organisationId };
    const latest = await requireVersion(db, partial, partial.latestVersion);
    const collection =
      body.collection_id === undefined
        ? undefined
        : await collectionInBody(db, place, body.collection_id);
    const isNewText = body.string !== undefined && body.string !== latest.template;
    if (body.string !== undefined) await warnOfMissing(call, db, partial.workspaceId, body.string);
    const columns = { name: body.name, status: body.status, collectionId: collection?.id };
    const isSame = isAsItIs(latest, { description: body.description });
    if (!isNewText && isSame && isAsItIs(partial, columns)) return { partial, version: latest };
    if (body.status === 'archived' && partial.status !== 'archived')
      await warnOfUsers(call, db, partial);
    const changed = await updatePartial(db, partial.id, {
      ...columns,
      latestVersion: isNewText ? partial.latestVersion + 1 : undefined,
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    const version = isNewText
      ? await insertVersion(db, changed, {
          template: body.string ?? '',
          description: body.description ?? null,
        })
      : await describeVersion(db, latest.id, body.description);
    return { before: presentPartial(partial, latest), partial: changed, version };
  });
}

export function deletePartial(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const partial = await reachPartial(call, db, reference);
    const version = await requireVersion(db, partial, partial.publishedVersion);
    await warnOfUsers(call, db, partial);
    await removePartial(db, partial.id);
    touchWorkspace(partial.workspaceId);
    describe({
      resourceId: partial.id,
      workspaceId: partial.workspaceId,
      before: presentPartial(partial, version),
    });
  });
}

async function warnOfMissing(
  call: AdminRequest,
  db: Database,
  workspaceId: string,
  template: string,
): Promise<void> {
  call.notes.warnings.push(...(await missingPartials(db, workspaceId, template, 'partial')));
}

/** Either of the two may be taken away first, as either may be made first: who goes on without is told. */
async function warnOfUsers(call: AdminRequest, db: Database, partial: PartialRow): Promise<void> {
  const users = await usersOfPartial(db, partial);
  if (users.length > 0)
    call.notes.warnings.push(
      `The partial ${partial.slug} is named by ${users.join(', ')}, whose requests fail now.`,
    );
}

/** From now on this is what the partial means in every prompt that names it without a version. */
export async function publishVersion(
  call: AdminRequest,
  reference: string,
  number: number,
): Promise<void> {
  await changeReached(call, reference, async (db, partial) => {
    const version = await requireVersion(db, partial, number);
    const before = await requireVersion(db, partial, partial.publishedVersion);
    const changed = await updatePartial(db, partial.id, {
      publishedVersion: number,
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    return { before: presentPartial(partial, before), partial: changed, version };
  });
}

function changeReached(
  call: AdminRequest,
  reference: string,
  /** Without what was before, nothing has changed. */
  work: (db: Database, partial: PartialRow) => Promise<PartialWithVersion & { before?: object }>,
): Promise<PartialWithVersion> {
  return call.change(async ({ db, describe, touchWorkspace, unchanged }) => {
    const reached = await reachPartial(call, db, reference);
    const { before, partial, version } = await work(db, reached);
    if (before === undefined) {
      unchanged();
      return { partial, version };
    }
    touchWorkspace(partial.workspaceId);
    describe({
      resourceId: partial.id,
      workspaceId: partial.workspaceId,
      before,
      after: presentPartial(partial, version),
    });
    return { partial, version };
  });
}

/** @throws 400 with the reason why the text could never be rendered */
function checkTemplate(text: string): void {
  try {
    parseTemplate(text);
  } catch (error) {
    throw templateRefusal(error);
  }
}
