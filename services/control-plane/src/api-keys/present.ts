import { instant, optionalInstant } from '../http/shapes.ts';
import type { ApiKeyRow } from './store.ts';

/**
 * A key as it is shown: never its secret, only the masked form of the current
 * one. What is not published as nullable is left out where there is nothing.
 */
export function presentApiKey(row: ApiKeyRow, now: Date) {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const current = row.secrets.find((secret) => secret.expiresAt === null);
  return {
    id: row.id,
    key: current?.masked ?? '',
    name: row.name,
    slug: row.slug,
    description: row.description ?? undefined,
    type: row.type,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? undefined,
    user_id: row.userId ?? undefined,
    status: expired ? 'expired' : row.status,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    creation_mode: row.creationMode,
    rate_limits: row.rateLimits,
    usage_limits: row.usageLimits ?? undefined,
    reset_usage: 0,
    scopes: row.scopes,
    defaults: {
      metadata: row.metadata,
      config_id: row.config?.slug,
      allow_config_override: row.allowConfigOverride,
    },
    alert_emails: row.alertEmails,
    expires_at: optionalInstant(row.expiresAt) ?? undefined,
    last_reset_at: optionalInstant(row.lastResetAt),
    last_rotated_at: optionalInstant(row.lastRotatedAt),
    rotation_policy: row.rotationPolicy,
    object: 'api-key',
  };
}
