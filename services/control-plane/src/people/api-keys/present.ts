import type { KeyType } from '@sluice/contracts';
import { type AnswerOf, keyTransitionMsMin, type RotationPolicy } from '@sluice/contracts/admin';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { Usages } from '../../limits/usage/usage-of.ts';
import { areExhausted, laterOf, presentUsageLimits } from '../../limits/usage-limits/present.ts';
import type { StoredUsageLimits } from '../../limits/usage-limits/stored-limits.ts';
import type { ApiKeyRow } from './store.ts';

type ShownApiKey = AnswerOf<'api-keys.read'>;

/**
 * A key as it is shown: never its secret, only the masked form of the current
 * one. What is not published as nullable is left out where there is nothing.
 * @param usages  what is used of its budget; undefined = that is not told
 */
export function presentApiKey(row: ApiKeyRow, now: Date, usages?: Usages): ShownApiKey {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const current = row.secrets.find((secret) => secret.expiresAt === null);
  const limits = row.usageLimits as StoredUsageLimits | null;
  const usageLimits = limits === null ? undefined : presentUsageLimits(limits, now, usages);
  const used = limits !== null && areExhausted([limits], now, usages) ? 'exhausted' : 'active';
  return {
    id: row.id,
    key: current?.masked ?? '',
    name: row.name,
    slug: row.slug,
    description: row.description ?? undefined,
    type: row.type as KeyType,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? undefined,
    user_id: row.userId ?? undefined,
    status: expired ? 'expired' : row.suspendedAt === null ? used : 'suspended',
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    creation_mode: row.creationMode as ShownApiKey['creation_mode'],
    rate_limits: row.rateLimits as ShownApiKey['rate_limits'],
    usage_limits: usageLimits,
    reset_usage: 0,
    scopes: row.scopes,
    defaults: {
      metadata: row.metadata as Record<string, string>,
      config_id: row.config?.slug,
      allow_config_override: row.allowConfigOverride,
    },
    alert_emails: row.alertEmails,
    expires_at: optionalInstant(row.expiresAt) ?? undefined,
    last_reset_at: laterOf(optionalInstant(row.lastResetAt), usageLimits?.last_reset_at ?? null),
    last_rotated_at: optionalInstant(row.lastRotatedAt),
    rotation_policy: presentRotation(row),
    object: 'api-key',
  };
}

function presentRotation(row: ApiKeyRow): ShownApiKey['rotation_policy'] {
  const policy = row.rotationPolicy as RotationPolicy | null;
  if (policy === null) return null;
  return {
    rotation_period: policy.rotation_period ?? null,
    rotation_period_days: policy.rotation_period_days ?? null,
    next_rotation_at: optionalInstant(row.nextRotationAt),
    key_transition_period_ms: policy.key_transition_period_ms ?? keyTransitionMsMin,
    status: 'ACTIVE',
  };
}
