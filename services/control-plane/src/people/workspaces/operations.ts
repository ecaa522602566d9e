import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { findConfig } from '../../documents/configs/store.ts';
import { requireWorkspaceRank } from '../../kernel/access/rank.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  findWorkspaceOfAnyStatus,
  type WorkspaceRow,
} from '../../kernel/tenancy/find-workspace.ts';
import { checkMetadata, effectiveSettings, textMetadata } from '../../kernel/tenancy/settings.ts';
import { isElsewhere } from '../../kernel/tenancy/target-workspace.ts';
import { changedUsageLimitsList } from '../../limits/usage-limits/changed-limits.ts';
import { plannedRateLimits } from '../../limits/usage-limits/rate-limits.ts';
import { rewarnHolder } from '../../limits/usage-limits/rewarn-holder.ts';
import type {
  StoredRateLimit,
  StoredUsageLimits,
} from '../../limits/usage-limits/stored-limits.ts';
import { plannedUsageLimitsList } from '../../limits/usage-limits/usage-limits.ts';
import { guardrailSlugs } from './guardrails.ts';
import { presentWorkspaceDetail } from './present.ts';
import {
  countContents,
  insertMembers,
  insertWorkspace,
  knownUserIds,
  readOrganisationSettings,
  removeContents,
  updateWorkspace,
} from './store.ts';

/** Gives a new workspace what every one begins with. */
export type ProvisionWorkspace = (
  db: Database,
  workspace: WorkspaceRow,
  now: Date,
) => Promise<void>;

/** Creates a workspace and gives it what the organisation gives every new one. */
export function createWorkspace(
  call: AdminRequest,
  body: BodyOf<'workspaces.create'>,
  provision: ProvisionWorkspace,
): Promise<WorkspaceRow> {
  return call.change(async ({ db, describe, touchOrganisation }) => {
    const { organisationId } = call.caller;
    const users = body.users ?? [];
    requireWorkspaceRank(
      call.caller,
      users.map(({ role }) => role),
    );
    const known = await knownUserIds(
      db,
      organisationId,
      users.map((user) => user.id),
    );
    const stranger = users.findIndex((user) => !known.has(user.id));
    if (stranger >= 0)
      throw invalidField(`body.users[${stranger}]`, 'is no user of this organisation');
    const id = newId();
    const workspace = await insertWorkspace(db, {
      id,
      organisationId,
      slug: body.slug ?? generateSlug('workspace', body.name),
      name: body.name,
      description: body.description ?? null,
      metadata: await keptMetadata(db, organisationId, body.defaults?.metadata),
      ...(await guardrailColumns(db, { id, organisationId }, body.defaults ?? {})),
      usageLimits: plannedUsageLimitsList(body.usage_limits ?? [], [], call.now),
      rateLimits: plannedRateLimits(body.rate_limits ?? [], []),
      createdAt: call.now,
      updatedAt: call.now,
    });
    await insertMembers(db, workspace.id, users);
    await provision(db, workspace, call.now);
    touchOrganisation();
    describe({ resourceId: id, workspaceId: id, after: await shown(call, db, id) });
    return workspace;
  });
}

/** The workspace a path names, if the caller may look at it. Archived ones are shown to organisation keys. */
export async function reachWorkspace(
  call: AdminRequest,
  db: AdminRequest['db'],
  reference: string,
) {
  const { caller } = call;
  const workspace = await findWorkspaceOfAnyStatus(db, caller.organisationId, reference);
  if (workspace === null || isElsewhere(caller, { workspaceId: workspace.id }))
    throw new GatewayError('admin.not_found');
  if (caller.workspaceId !== undefined && workspace.id !== caller.workspaceId)
    throw new GatewayError('auth.missing_scope', {
      message: 'This key belongs to another workspace.',
    });
  return workspace;
}

/** What the body leaves out stays; null clears, of `defaults` all that is in it. */
export function changeWorkspace(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'workspaces.update'>,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await reachActiveWorkspace(call, db, reference);
    const defaults = body.defaults === null ? noDefaults : (body.defaults ?? {});
    const changed = await updateWorkspace(db, workspace.id, {
      name: body.name,
      description: body.description,
      metadata:
        defaults.metadata === undefined
          ? undefined
          : await keptMetadata(db, workspace.organisationId, defaults.metadata),
      userApiKeyConfigId: await configId(db, workspace, defaults.user_api_key_config),
      ...(await guardrailColumns(db, workspace, defaults)),
      usageLimits: changedUsageLimitsList(
        workspace.usageLimits as StoredUsageLimits[],
        body,
        call.now,
      ),
      rateLimits:
        body.rate_limits === undefined
          ? undefined
          : plannedRateLimits(body.rate_limits ?? [], workspace.rateLimits as StoredRateLimit[]),
      updatedAt: call.now,
    });
    await rewarnHolder(db, workspace.usageLimits, changed.usageLimits);
    touchWorkspace(workspace.id);
    describe({
      resourceId: workspace.id,
      workspaceId: workspace.id,
      before: presentWorkspaceDetail(workspace, 'display', call.now),
      after: await shown(call, db, workspace.id),
    });
  });
}

const noDefaults = {
  metadata: null,
  input_guardrails: null,
  output_guardrails: null,
  user_api_key_config: null,
};

/** Archives the workspace; everything people built in it must be gone before. */
export function deleteWorkspace(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace, touchKey, touchOrganisation }) => {
    const workspace = await reachActiveWorkspace(call, db, reference);
    if (workspace.isDefault)
      throw new GatewayError('admin.refused', {
        message: 'The default workspace cannot be deleted.',
      });
    const contents = Object.entries(await countContents(db, workspace.id)).filter(
      ([, count]) => count > 0,
    );
    if (contents.length > 0)
      throw new GatewayError('admin.refused', {
        message: `The workspace still holds ${contents.map(([kind, count]) => `${count} ${kind}`).join(' and ')}.`,
      });
    for (const key of await removeContents(db, workspace.id, call.now)) touchKey(key);
    await updateWorkspace(db, workspace.id, { status: 'archived', updatedAt: call.now });
    touchWorkspace(workspace.id);
    touchOrganisation();
    describe({
      resourceId: workspace.id,
      workspaceId: workspace.id,
      before: presentWorkspaceDetail(workspace, 'display', call.now),
    });
  });
}

/** The same, for changes: an archived workspace takes none. */
export async function reachActiveWorkspace(
  call: AdminRequest,
  db: AdminRequest['db'],
  reference: string,
) {
  const workspace = await reachWorkspace(call, db, reference);
  if (workspace.status !== 'active') throw new GatewayError('admin.not_found');
  return workspace;
}

async function shown(call: AdminRequest, db: AdminRequest['db'], id: string) {
  return presentWorkspaceDetail(await reachWorkspace(call, db, id), 'display', call.now);
}

async function guardrailColumns(
  db: AdminRequest['db'],
  workspace: { id: string; organisationId: string },
  defaults: Pick<
    NonNullable<BodyOf<'workspaces.update'>['defaults']>,
    'input_guardrails' | 'output_guardrails'
  >,
) {
  const scope = { organisationId: workspace.organisationId, workspaceId: workspace.id };
  const slugs = (name: 'input_guardrails' | 'output_guardrails') =>
    defaults[name] === undefined
      ? undefined
      : guardrailSlugs(db, scope, defaults[name], `body.defaults.${name}`);
  return {
    inputGuardrails: await slugs('input_guardrails'),
    outputGuardrails: await slugs('output_guardrails'),
  };
}

async function configId(
  db: AdminRequest['db'],
  workspace: WorkspaceRow,
  reference: string | null | undefined,
) {
  if (reference === undefined || reference === null) return reference;
  const config = await findConfig(db, workspace.id, reference);
  if (config === null)
    throw invalidField('body.defaults.user_api_key_config', 'is no config of this workspace');
  return config.id;
}

/** As the organisation's schema for its workspaces wants it. */
async function keptMetadata(
  db: AdminRequest['db'],
  organisationId: string,
  sent: Readonly<Record<string, unknown>> | null | undefined,
) {
  const { metadata_schemas: schemas } = effectiveSettings(
    await readOrganisationSettings(db, organisationId),
  );
  return checkMetadata(schemas.workspaces, textMetadata(sent), 'body.defaults.metadata');
}
