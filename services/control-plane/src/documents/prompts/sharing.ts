import type { BodyOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import type { Database } from '../../kernel/database/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { findProviderOf, findProviderRow } from '../../models/providers/store.ts';
import { collectionInBody } from '../collections/operations.ts';
import { findDefaultCollection } from '../collections/store.ts';
import { isSharedWith, readShare, type Share, shareOf } from '../shares/share.ts';
import { contentOf, providerSlug } from './content.ts';
import { addPrompt, type PromptWithVersion, reachPrompt, requireVersion } from './operations.ts';
import { findPrompts, type PromptRow, updatePrompt } from './store.ts';

/** Says who may look at a prompt and copy it, beside its workspace; null is nobody. */
export function sharePrompt(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'prompts.share.create'> | null,
): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const prompt = await reachPrompt(call, db, reference);
    const share = body === null ? null : await readShare(db, prompt.organisationId, body);
    await updatePrompt(db, prompt.id, {
      share: share === null ? noJson : { ...share },
      updatedBy: actorOf(call.caller),
      updatedAt: call.now,
    });
    describe({
      resourceId: prompt.id,
      workspaceId: prompt.workspaceId,
      before: shown(prompt, shareOf(prompt)),
      after: shown(prompt, share),
    });
  });
}

function shown(prompt: PromptRow, share: Share | null): object {
  return { id: prompt.id, slug: prompt.slug, share };
}

/** Copies the published version of a prompt, one's own or a shared one, as a prompt of the caller's workspace. */
export function forkPrompt(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'prompts.fork'>,
): Promise<PromptWithVersion> {
  return call.change(async (change) => {
    const { db } = change;
    const source = await reachToCopy(call, db, reference);
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const version = await requireVersion(db, source.id, { version: source.publishedVersion });
    const collection =
      body.collection_id === undefined
        ? await findDefaultCollection(db, workspace.id)
        : await collectionInBody(db, workspace, body.collection_id);
    const virtualKey =
      body.virtual_key === undefined
        ? await sameProvider(db, source.workspaceId, version.virtualKey, workspace.id)
        : await providerSlug(db, workspace.id, body.virtual_key);
    const name = body.name ?? source.name;
    return addPrompt(call, change, collection, { name }, { ...contentOf(version), virtualKey });
  });
}

/** What the body names as workspace is where the copy goes, not where the prompt is. */
function reachToCopy(call: AdminRequest, db: Database, reference: string): Promise<PromptRow> {
  return reachByReference(call, db, reference, findPrompts, {
    named: { field: 'path.promptId', reference: undefined },
    isShared: isSharedWith,
  });
}

/** The target workspace's provider of the integration that the prompt is sent to. */
async function sameProvider(db: Database, from: string, slug: string, to: string): Promise<string> {
  const source = await findProviderRow(db, from, slug);
  const provider =
    source === null ? null : await findProviderOf(db, to, source.integrationId, slug);
  if (provider === null)
    throw invalidField(
      'body.virtual_key',
      'is required: the workspace has no provider of the integration that this prompt uses',
    );
  return provider.slug;
}
