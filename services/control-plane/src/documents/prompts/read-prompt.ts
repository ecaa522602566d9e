import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { reachByReference } from '../../kernel/tenancy/reach.ts';
import { isSharedWith } from '../shares/share.ts';
import { type PromptWithVersion, requireVersion } from './operations.ts';
import { findLabelledVersion, findPrompts, type PromptRow, type VersionRow } from './store.ts';

/**
 * The prompt and version that a reference names: `slug` and a UUID mean the
 * published version, `slug@latest`, `slug@12` and `slug@label` others. Of what is
 * shared with the caller's workspace the published version may be read: history
 * and drafts stay with the owner.
 */
export async function readPrompt(
  call: AdminRequest,
  reference: string,
): Promise<PromptWithVersion> {
  const at = reference.indexOf('@');
  const name = at < 0 ? reference : reference.slice(0, at);
  const prompt = await reachByReference(call, call.db, name, findPrompts, {
    isShared: isSharedWith,
  });
  const suffix = at < 0 ? undefined : reference.slice(at + 1);
  requireReadable(call, prompt, suffix);
  return { prompt, version: await chooseVersion(call.db, prompt, suffix) };
}

function requireReadable(
  { caller }: AdminRequest,
  prompt: PromptRow,
  suffix: string | undefined,
): void {
  if (isPublished(suffix) || caller.workspaceId === undefined) return;
  if (prompt.workspaceId !== caller.workspaceId)
    throw new GatewayError('auth.missing_scope', {
      message: 'Of a prompt that is shared, the published version can be read.',
    });
}

function isPublished(suffix: string | undefined): suffix is undefined | 'default' {
  return suffix === undefined || suffix === 'default';
}

async function chooseVersion(
  db: Database,
  prompt: PromptRow,
  suffix: string | undefined,
): Promise<VersionRow> {
  if (isPublished(suffix))
    return requireVersion(db, prompt.id, { version: prompt.publishedVersion });
  if (suffix === 'latest') return requireVersion(db, prompt.id, { version: prompt.latestVersion });
  if (/^\d{1,9}$/.test(suffix)) return requireVersion(db, prompt.id, { version: Number(suffix) });
  const labelled = await findLabelledVersion(db, prompt.id, suffix);
  if (labelled === null)
    throw new GatewayError('admin.not_found', { message: 'No version carries this label.' });
  return labelled;
}
