import {
  type CreateApiKeyBody,
  type KeyType,
  keyTransitionMsMin,
  maskServiceKey,
  type RotationPolicy,
  roleInWorkspace,
  rotationPeriodMs,
  type UpdateApiKeyBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { findConfig } from '../configs/store.ts';
import type { Database } from '../database/client.ts';
import { isUuid } from '../database/ids.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireReach,
  requireWorkspace,
} from '../http/target-workspace.ts';
import { textMetadata } from '../workspaces/operations.ts';
import { noJson } from '../workspaces/store.ts';
import { requireHeldScopes, requireKnownScopes } from './granting.ts';
import { insertMintedKey } from './insert-minted-key.ts';
import type { MintKey } from './secrets.ts';
import {
  type ApiKeyRow,
  countOrganisationKeys,
  findApiKey,
  findUser,
  removeApiKey,
  replaceSecret,
  updateApiKey,
} from './store.ts';

/** The key a path names, if it is in the caller's reach and of a kind whose scopes the caller holds. */
export async function reachApiKey(call: AdminCall, db: Database, id: string): Promise<ApiKeyRow> {
  if (!isUuid(id)) throw invalidField('path.id', 'must be a UUID');
  const key = await findApiKey(db, id.toLowerCase());
  requireReach(call.caller, key);
  const found = key as ApiKeyRow;
  call.permit(found.type);
  return found;
}

export function createApiKey(
  call: AdminCall,
  type: KeyType,
  body: CreateApiKeyBody,
  mintKey: MintKey,
): Promise<{ id: string; key: string }> {
  call.permit(type);
  requireKnownScopes(type, body.scopes);
  requireHeldScopes(call.caller, body.scopes);
  const { caller } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  return call.change(async ({ db, describe }) => {
    const workspaceId =
      type === 'organisation-service'
        ? undefined
        : (await requireWorkspace(db, caller, namedWorkspace(call.body, call.query))).id;
    const userId =
      type === 'workspace-user'
        ? await userOfKey(call, db, workspaceId ?? '', body.user_id)
        : undefined;
    const defaults = body.defaults ?? {};
    const { id, key } = await insertMintedKey(db, mintKey, {
      organisationId: caller.organisationId,
      workspaceId,
      userId,
      createdByUserId: caller.userId,
      type,
      name: body.name,
      description: body.description,
      scopes: body.scopes,
      rateLimits: body.rate_limits ?? undefined,
      usageLimits: body.usage_limits ?? undefined,
      metadata: textMetadata(defaults.metadata),
      configId: await configId(db, workspaceId, defaults.config_id),
      allowConfigOverride: defaults.allow_config_override,
      alertEmails: body.alert_emails ?? undefined,
      expiresAt: body.expires_at,
      rotationPolicy: body.rotation_policy ?? undefined,
      now: call.now,
    });
    describe({
      resourceId: id,
      workspaceId,
      detail: { api_key_id: id, key_masked: maskServiceKey(key) },
    });
    return { id, key };
  });
}

/** What a field leaves out stays; an explicit null clears. */
export function changeApiKey(call: AdminCall, id: string, body: UpdateApiKeyBody): Promise<void> {
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id);
    if (body.scopes !== undefined) {
      requireKnownScopes(key.type as KeyType, body.scopes);
      requireHeldScopes(
        call.caller,
        body.scopes.filter((scope) => !key.scopes.includes(scope)),
      );
    }
    const defaults =
      body.defaults === null
        ? { metadata: null, config_id: null, allow_config_override: true }
        : (body.defaults ?? {});
    const raisesCredit = (body.usage_limits?.credit_limit ?? 0) > creditLimit(key.usageLimits);
    const reactivates = body.reset_usage === true || body.usage_limits === null || raisesCredit;
    await updateApiKey(db, key.id, {
      name: body.name,
      description: body.description,
      scopes: body.scopes,
      rateLimits: body.rate_limits === null ? [] : body.rate_limits,
      usageLimits: body.usage_limits === null ? noJson : body.usage_limits,
      metadata: defaults.metadata === undefined ? undefined : textMetadata(defaults.metadata),
      configId:
        defaults.config_id === undefined
          ? undefined
          : await configId(db, key.workspaceId ?? undefined, defaults.config_id),
      allowConfigOverride: defaults.allow_config_override,
      alertEmails: body.alert_emails === null ? [] : body.alert_emails,
      expiresAt: body.expires_at,
      rotationPolicy: body.rotation_policy === null ? noJson : body.rotation_policy,
      status: reactivates ? 'active' : undefined,
      lastResetAt: body.reset_usage === true ? call.now : undefined,
      updatedAt: call.now,
    });
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      detail: { api_key_id: key.id },
    });
  });
}

export function deleteApiKey(call: AdminCall, id: string): Promise<void> {
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id);
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
      detail: { api_key_id: key.id },
    });
  });
}

/**
 * A new secret for the same key; the old one works on for the overlap. The
 * caller gets to see the new secret, so they must hold all that it opens.
 */
export function rotateApiKey(
  call: AdminCall,
  id: string,
  transitionMs: number | undefined,
  mintKey: MintKey,
): Promise<{ id: string; key: string; overlapEndsAt: Date }> {
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id);
    requireHeldScopes(call.caller, key.scopes);
    const overlap = key.secrets.find(
      (secret) => secret.expiresAt !== null && secret.expiresAt > call.now,
    );
    if (overlap !== undefined)
      throw new GatewayError('admin.refused', {
        message: 'The key was rotated already and its previous secret still works.',
      });
    const policy = (key.rotationPolicy ?? {}) as RotationPolicy;
    const overlapMs = transitionMs ?? policy.key_transition_period_ms ?? keyTransitionMsMin;
    const periodMs = rotationPeriodMs(policy);
    // Else the next rotation would find two secrets that still work.
    if (periodMs !== undefined && overlapMs >= periodMs)
      throw invalidField(
        'body.key_transition_period_ms',
        'must be shorter than the period of the rotation policy',
      );
    const overlapEndsAt = new Date(call.now.getTime() + overlapMs);
    if (Number.isNaN(overlapEndsAt.getTime()))
      throw invalidField('body.key_transition_period_ms', 'is too long');
    const minted = mintKey();
    await replaceSecret(db, key.id, minted, { now: call.now, overlapEndsAt });
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      detail: {
        api_key_id: key.id,
        rotation_mode: 'manual',
        old_key_masked: key.secrets.find((secret) => secret.expiresAt === null)?.masked,
        transition_expires_at: overlapEndsAt.toISOString(),
      },
    });
    return { id: key.id, key: minted.key, overlapEndsAt };
  });
}

/**
 * The user a new user key belongs to: the one named, or else the one behind the
 * caller's key. They must have a place in the workspace; and the person behind
 * the caller's key must be one who may make keys for others.
 */
async function userOfKey(
  call: AdminCall,
  db: Database,
  workspaceId: string,
  named: string | undefined,
): Promise<string> {
  const { caller } = call;
  const id = named ?? caller.userId;
  if (id === undefined)
    throw invalidField('body.user_id', 'is required: nobody stands behind this key');
  if (caller.role === 'member')
    throw new GatewayError('auth.missing_scope', {
      message: 'Members of a workspace do not create keys.',
    });
  const user = await findUser(db, caller.organisationId, id, workspaceId);
  if (user === null) throw invalidField('body.user_id', 'is no user of this organisation');
  if (roleInWorkspace(user.role, user.memberships[0]?.role) === undefined)
    throw invalidField('body.user_id', 'is no member of the workspace');
  return user.id;
}

async function configId(
  db: Database,
  workspaceId: string | undefined,
  reference: string | null | undefined,
): Promise<string | null> {
  if (reference === undefined || reference === null) return null;
  if (workspaceId === undefined)
    throw invalidField('body.defaults.config_id', 'means nothing for a key without a workspace');
  const config = await findConfig(db, workspaceId, reference);
  if (config === null)
    throw invalidField('body.defaults.config_id', 'is no config of the workspace');
  return config.id;
}

function creditLimit(usageLimits: unknown): number {
  const limit = (usageLimits as { credit_limit?: unknown } | null)?.credit_limit;
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}
