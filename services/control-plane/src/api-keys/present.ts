import { instant, optionalInstant } from '../http/shapes.ts';
import type { ApiKeyRow } from './store.ts';

/** A key as it is shown: never its secret, only the masked form of the current one. */
export function presentApiKey(row: ApiKeyRow, now: Date) {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const current = row.secrets.find((secret) => secret.expiresAt === null);
  return {
    id: row.id,
    key: current?.masked ?? '',
    name: row.name,
    slug: row.slug,
    description: row.description,
    type: row.type,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    user_id: row.userId,
    status: expired ? 'expired' : row.status,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    creation_mode: row.creationMode,
    rate_limits: row.rateLimits,
    usage_limits: row.usageLimits,
    reset_usage: 0,
    scopes: row.scopes,
    defaults: {
      metadata: row.metadata,
      config_id: row.config?.slug ?? null,
      allow_config_override: row.allowConfigOverride,
    },
    alert_emails: row.alertEmails,
    expires_at: optionalInstant(row.expiresAt),
    last_reset_at: optionalInstant(row.lastResetAt),
    last_rotated_at: optionalInstant(row.lastRotatedAt),
    rotation_policy: row.rotationPolicy,
    object: 'api-key',
  };
}
