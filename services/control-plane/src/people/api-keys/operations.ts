import { type KeyType, maskServiceKey } from '@sluice/contracts';
import type { BodyOf, Page } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireWorkspace,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { changedUsageLimits } from '../../limits/usage-limits/changed-limits.ts';
import { plannedRateLimits } from '../../limits/usage-limits/rate-limits.ts';
import { rewarnHolder } from '../../limits/usage-limits/rewarn-holder.ts';
import type {
  StoredRateLimit,
  StoredUsageLimits,
} from '../../limits/usage-limits/stored-limits.ts';
import { plannedUsageLimits } from '../../limits/usage-limits/usage-limits.ts';
import { keptDefaults, keptMetadata } from './defaults.ts';
import { requireHeldScopes, requireKnownScopes } from './granting.ts';
import { insertMintedKey } from './insert-minted-key.ts';
import { presentApiKey } from './present.ts';
import { reachApiKey, settingsFor, showApiKey } from './reach.ts';
import { onlyKeysOf, requireRole, requireRoleForKey } from './roles.ts';
import { planRotation, type RotationPlan, rotationOf } from './rotation.ts';
import type { MintKey } from './secrets.ts';
import {
  type ApiKeyRow,
  countOrganisationKeys,
  countUserKeys,
  listApiKeys,
  readSettings,
  removeApiKey,
  requireFreeSlug,
  updateApiKey,
} from './store.ts';
import { endOfChangedKey, endOfNewKey, requireRoom } from './user-key-rules.ts';
import { userOfKey } from './user-of-key.ts';

/** The keys of these kinds that the caller may see; of one workspace, if one is named. */
export async function visibleApiKeys(
  call: AdminRequest,
  types: readonly KeyType[],
  query: Page & { ids?: readonly string[] | undefined },
): Promise<{ rows: ApiKeyRow[]; total: number }> {
  const { caller, db } = call;
  const { keys } = await settingsFor(call, db);
  requireRole(caller, keys, 'view');
  const workspace = await targetWorkspace(db, caller, namedWorkspace(undefined, call.query));
  const scope = {
    organisationId: caller.organisationId,
    workspaceId: workspace?.id,
    types,
    userId: onlyKeysOf(caller),
    ids: query.ids?.map((id) => id.toLowerCase()),
  };
  return listApiKeys(db, scope, query);
}

export function createApiKey(
  call: AdminRequest,
  type: KeyType,
  body: BodyOf<'api-keys.create'>,
  mintKey: MintKey,
): Promise<{ id: string; key: string }> {
  call.permit(type);
  requireKnownScopes(type, body.scopes);
  requireHeldScopes(call.caller, body.scopes);
  const { caller, now } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  return call.change(async ({ db, describe }) => {
    const workspaceId =
      type === 'organisation-service'
        ? undefined
        : (await requireWorkspace(db, caller, namedWorkspace(call.body, call.query))).id;
    const settings = await readSettings(db, caller.organisationId, workspaceId);
    const userId =
      type === 'workspace-user'
        ? await userOfKey(call, db, settings, workspaceId ?? '', body.user_id)
        : undefined;
    requireRoleForKey(caller, settings.keys, 'manage', { type, userId });
    const rules = userId === undefined ? undefined : settings.user_keys;
    if (rules !== undefined)
      requireRoom(rules, await countUserKeys(db, workspaceId ?? '', userId ?? '', now));
    const rotation = planRotation(body.rotation_policy, undefined, {
      enforcedDays: rules?.user_api_key_rotation_period ?? null,
      now,
    });
    await requireFreeSlug(db, caller.organisationId, body.slug);
    const { id, key } = await insertMintedKey(db, mintKey, {
      organisationId: caller.organisationId,
      workspaceId,
      userId,
      createdByUserId: caller.userId,
      type,
      name: body.name,
      slug: body.slug,
      description: body.description,
      scopes: body.scopes,
      rateLimits: plannedRateLimits(body.rate_limits ?? [], []),
      usageLimits:
        body.usage_limits == null ? undefined : plannedUsageLimits(body.usage_limits, null, now),
      metadata: keptMetadata(type, settings, body.defaults?.metadata),
      ...(await keptDefaults(db, workspaceId, body.defaults ?? {})),
      alertEmails: body.alert_emails ?? undefined,
      expiresAt: endOfNewKey(body.expires_at, rules, now),
      rotationPolicy: rotation.policy ?? undefined,
      nextRotationAt: rotation.nextAt,
      now,
    });
    describe({
      resourceId: id,
      workspaceId,
      after: await showApiKey(db, id, now),
      detail: { api_key_id: id, key_masked: maskServiceKey(key) },
    });
    return { id, key };
  });
}

/** What a field leaves out stays; an explicit null clears. */
export function changeApiKey(
  call: AdminRequest,
  id: string,
  body: BodyOf<'api-keys.update'>,
): Promise<void> {
  const { now } = call;
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id, 'manage');
    const type = key.type as KeyType;
    if (body.scopes !== undefined) {
      requireKnownScopes(type, body.scopes);
      requireHeldScopes(
        call.caller,
        body.scopes.filter((scope) => !key.scopes.includes(scope)),
      );
    }
    const settings = await readSettings(db, key.organisationId, key.workspaceId ?? undefined);
    const rules = type === 'workspace-user' ? settings.user_keys : undefined;
    const rotation =
      body.rotation_policy === undefined
        ? undefined
        : planRotation(body.rotation_policy, rotationOf(key), {
            enforcedDays: rules?.user_api_key_rotation_period ?? null,
            now,
          });
    const expiresAt = endOfChangedKey(body.expires_at, rules, now);
    const defaults =
      body.defaults === null
        ? { metadata: null, config_id: null, allow_config_override: true }
        : (body.defaults ?? {});
    const usageLimits = changedUsageLimits(key.usageLimits as StoredUsageLimits | null, body, now);
    await updateApiKey(db, key.id, {
      name: body.name,
      description: body.description,
      scopes: body.scopes,
      rateLimits:
        body.rate_limits === undefined
          ? undefined
          : plannedRateLimits(body.rate_limits ?? [], key.rateLimits as StoredRateLimit[]),
      usageLimits,
      metadata:
        defaults.metadata === undefined
          ? undefined
          : keptMetadata(type, settings, defaults.metadata),
      ...(await keptDefaults(db, key.workspaceId ?? undefined, defaults)),
      alertEmails: body.alert_emails === null ? [] : body.alert_emails,
      ...(expiresAt !== undefined && { expiresAt, expiryNoticeAt: expiresAt }),
      ...(rotation !== undefined && rotationColumns(rotation, key)),
      lastResetAt: body.reset_usage === true ? now : undefined,
      updatedAt: now,
    });
    await rewarnHolder(db, key.usageLimits, usageLimits);
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      before: presentApiKey(key, now),
      after: await showApiKey(db, key.id, now),
      detail: { api_key_id: key.id },
    });
  });
}

export function deleteApiKey(call: AdminRequest, id: string): Promise<void> {
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id, 'manage');
    if (
      key.type === 'organisation-service' &&
      (await countOrganisationKeys(db, key.organisationId)) === 1
    )
      throw new GatewayError('admin.refused', {
        message: 'The last organisation key cannot be deleted.',
      });
    await removeApiKey(db, key.id);
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      before: presentApiKey(key, call.now),
      detail: { api_key_id: key.id },
    });
  });
}

/** The log is told again only of a date that is another one. */
function rotationColumns({ policy, nextAt }: RotationPlan, key: ApiKeyRow) {
  const isSame = nextAt?.getTime() === key.nextRotationAt?.getTime();
  return {
    rotationPolicy: policy === null ? noJson : { ...policy },
    nextRotationAt: nextAt,
    rotationNoticeAt: isSame ? undefined : nextAt,
  };
}
