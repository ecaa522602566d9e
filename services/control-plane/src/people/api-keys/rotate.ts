import { keyTransitionMsMin, type RotationPolicy, rotationPeriodMs } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { requireHeldScopes } from './granting.ts';
import { presentApiKey } from './present.ts';
import { reachApiKey, showApiKey } from './reach.ts';
import { nextAfterRotation, rotationOf } from './rotation.ts';
import type { MintKey } from './secrets.ts';
import { replaceSecret } from './store.ts';

/**
 * A new secret for the same key; the old one works on for the overlap, or ends with all others when that is 0. The
 * caller gets to see the new secret, so they must hold all that it opens.
 */
export function rotateApiKey(
  call: AdminRequest,
  id: string,
  transitionMs: number | undefined,
  mintKey: MintKey,
): Promise<{ id: string; key: string; overlapEndsAt: Date }> {
  const { now } = call;
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id, 'manage');
    requireHeldScopes(call.caller, key.scopes);
    const overlap = key.secrets.find(
      (secret) => secret.expiresAt !== null && secret.expiresAt > now,
    );
    // Whoever wants them ended need not wait until they have ended.
    if (overlap !== undefined && transitionMs !== 0)
      throw new GatewayError('admin.refused', {
        message: 'The key was rotated already and its previous secret still works.',
      });
    const rotation = rotationOf(key);
    const overlapEndsAt = new Date(now.getTime() + overlapMs(rotation.policy ?? {}, transitionMs));
    if (Number.isNaN(overlapEndsAt.getTime()))
      throw invalidField('body.key_transition_period_ms', 'is too long');
    const minted = mintKey();
    const nextAt = nextAfterRotation(rotation, { now, overlapEndsAt });
    await replaceSecret(db, key.id, minted, { now, overlapEndsAt, nextRotationAt: nextAt });
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      before: presentApiKey(key, now),
      after: await showApiKey(db, key.id, now),
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

/** @throws 400 for an overlap after which the next rotation would find two secrets that still work. */
function overlapMs(policy: RotationPolicy, asked: number | undefined): number {
  const chosen = asked ?? policy.key_transition_period_ms ?? keyTransitionMsMin;
  const periodMs = rotationPeriodMs(policy);
  if (periodMs !== undefined && chosen >= periodMs)
    throw invalidField(
      'body.key_transition_period_ms',
      'must be shorter than the period of the rotation policy',
    );
  return chosen;
}
