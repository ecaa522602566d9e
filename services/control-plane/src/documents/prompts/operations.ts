import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { collectionInBody, reachCollection } from '../collections/operations.ts';
import { usersOfPrompt } from '../configs/named-by.ts';
import { findLabel } from '../labels/store.ts';
import { checkTemplate, makesVersion, nextContent, providerSlug, wholeContent } from './content.ts';
import { missingNames } from './missing-names.ts';
import { presentPrompt } from './present.ts';
import {
  clearLabels,
  findPrompts,
  findVersion,
  insertPrompt,
  insertVersion,
  type PromptRow,
  removePrompt,
  setLabel,
  updatePrompt,
  updateVersion,
  type VersionContent,
  type VersionRow,
} from './store.ts';

export interface PromptWithVersion {
  prompt: PromptRow;
  version: VersionRow;
}

/** The prompt a path names, in order to change it or to look at its history. */
export function reachPrompt(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<PromptRow> {
  return reachByReference(call, db, reference, findPrompts);
}

/** Of a prompt that has it: the versions that its row names are always there. */
export async function requireVersion(
  db: Database,
  promptId: string,
  which: { version: number } | { id: string },
): Promise<VersionRow> {
  const version = await findVersion(db, promptId, which);
  if (version === null) throw new GatewayError('admin.not_found', { message: 'No such version.' });
  return version;
}

export function createPrompt(
  call: AdminRequest,
  body: BodyOf<'prompts.create'>,
): Promise<PromptWithVersion> {
  const content = wholeContent(body);
  checkTemplate(content);
  return call.change(async (change) => {
    const collection = await collectionOfNew(call, change.db, body.collection_id);
    const virtualKey = await providerSlug(change.db, collection.workspaceId, content.virtualKey);
    return addPrompt(call, change, collection, body, { ...content, virtualKey });
  });
}

/** Writes a prompt with its first version, which is published at once. */
export async function addPrompt(
  call: AdminRequest,
  { db, describe, touchWorkspace }: Change,
  collection: { id: string; workspaceId: string; organisationId: string },
  { name, slug }: { name: string; slug?: string | undefined },
  content: VersionContent,
): Promise<PromptWithVersion> {
  const actor = actorOf(call.caller);
  call.notes.warnings.push(...(await missingNames(db, collection.workspaceId, content)));
  const created = await insertPrompt(
    db,
    {
      id: newId(),
      organisationId: collection.organisationId,
      workspaceId: collection.workspaceId,
      collectionId: collection.id,
      slug: slug ?? generateSlug('prompt', name),
      name,
      ownerId: actor,
      updatedBy: actor,
      createdAt: call.now,
      updatedAt: call.now,
    },
    content,
  );
  touchWorkspace(collection.workspaceId);
  describe({
    resourceId: created.prompt.id,
    workspaceId: collection.workspaceId,
    after: presentPrompt(created.prompt, created.version),
  });
  return created;
}

/** A collection says which workspace is meant when an organisation key does not. */
async function collectionOfNew(call: AdminRequest, db: Database, reference: string) {
  const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
  if (workspace !== undefined) return collectionInBody(db, workspace, reference);
  try {
    return await reachCollection(call, db, reference);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'admin.not_found')
      throw invalidField('body.collection_id', 'is no collection of this organisation');
    throw error;
  }
}

/** Another content than the latest is a new version, which is published by nobody but `publishVersion`. */
export function changePrompt(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'prompts.update'>,
): Promise<PromptWithVersion> {
  return changeReached(call, reference, async (db, prompt) => {
    const place = { id: prompt.workspaceId, organisationId: prompt.organisationId };
    const latest = await requireVersion(db, prompt.id, { version: prompt.latestVersion });
    const collection =
      body.collection_id === undefined
        ? undefined
        : await collectionInBody(db, place, body.collection_id);
    const virtualKey =
      body.virtual_key === undefined
        ? undefined
        : await providerSlug(db, prompt.workspaceId, body.virtual_key);
    const sent = makesVersion(body)
      ? nextContent({ ...body, virtual_key: virtualKey }, latest)
      : undefined;
    if (sent !== undefined) checkTemplate(sent);
    const said = { virtualKey, description: body.version_description };
    const content = sent !== undefined && isAsItIs(latest, { ...sent, ...said }) ? undefined : sent;
    const columns = { name: body.name, collectionId: collection?.id };
    if (sent !== undefined)
      call.notes.warnings.push(...(await missingNames(db, prompt.workspaceId, sent)));
    if (content === undefined && isAsItIs(latest, said) && isAsItIs(prompt, columns))
      return { prompt, version: latest };
    const changed = await updatePrompt(db, prompt.id, {
      ...columns,
      latestVersion: content === undefined ? undefined : prompt.latestVersion + 1,
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    const version =
      content === undefined
        ? await updateVersion(db, latest.id, said)
        : await insertVersion(db, changed, content);
    return { before: presentPrompt(prompt, latest), prompt: changed, version };
  });
}

export function deletePrompt(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const prompt = await reachPrompt(call, db, reference);
    const users = await usersOfPrompt(db, prompt);
    if (users.length > 0)
      throw new GatewayError('admin.refused', {
        message: `The prompt is named by ${users.join(', ')}. Change those first.`,
      });
    const version = await requireVersion(db, prompt.id, { version: prompt.publishedVersion });
    await removePrompt(db, prompt.id);
    touchWorkspace(prompt.workspaceId);
    describe({
      resourceId: prompt.id,
      workspaceId: prompt.workspaceId,
      before: presentPrompt(prompt, version),
    });
  });
}

export async function publishVersion(
  call: AdminRequest,
  reference: string,
  number: number,
): Promise<void> {
  await changeReached(call, reference, async (db, prompt) => {
    const version = await requireVersion(db, prompt.id, { version: number });
    const before = await requireVersion(db, prompt.id, { version: prompt.publishedVersion });
    const changed = await updatePrompt(db, prompt.id, {
      publishedVersion: number,
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    return { before: presentPrompt(prompt, before), prompt: changed, version };
  });
}

/** Puts a label on a version, from wherever it was; null takes all labels off it. */
export async function labelVersion(
  call: AdminRequest,
  reference: string,
  versionId: string,
  labelId: string | null | undefined,
): Promise<void> {
  await changeReached(call, reference, async (db, prompt) => {
    const before = await reachVersion(db, prompt, versionId);
    if (labelId === null) await clearLabels(db, before.id);
    else if (labelId !== undefined) {
      const label = await findLabel(db, prompt.organisationId, labelId.toLowerCase());
      if (label === null || (!label.isUniversal && label.workspaceId !== prompt.workspaceId))
        throw invalidField('body.label_id', 'is no label of this workspace');
      await setLabel(db, before, label.id, call.now);
    }
    const version = await requireVersion(db, prompt.id, { id: before.id });
    return { before: presentPrompt(prompt, before), prompt, version };
  });
}

export function reachVersion(db: Database, prompt: PromptRow, id: string): Promise<VersionRow> {
  if (!isUuid(id)) throw invalidField('path.versionId', 'must be a UUID');
  return requireVersion(db, prompt.id, { id: id.toLowerCase() });
}

function changeReached(
  call: AdminRequest,
  reference: string,
  /** Without what was before, nothing has changed. */
  work: (db: Database, prompt: PromptRow) => Promise<PromptWithVersion & { before?: object }>,
): Promise<PromptWithVersion> {
  return call.change(async ({ db, describe, touchWorkspace, unchanged }) => {
    const reached = await reachPrompt(call, db, reference);
    const { before, prompt, version } = await work(db, reached);
    if (before === undefined) {
      unchanged();
      return { prompt, version };
    }
    touchWorkspace(prompt.workspaceId);
    describe({
      resourceId: prompt.id,
      workspaceId: prompt.workspaceId,
      before,
      after: presentPrompt(prompt, version),
    });
    return { prompt, version };
  });
}
