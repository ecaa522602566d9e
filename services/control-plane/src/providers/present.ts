import { instant, optionalInstant } from '../http/shapes.ts';
import type { ProviderRow } from './store.ts';

/**
 * A provider as it is shown. It has no `id` here: callers name it by its slug.
 * What is not published as nullable is left out where there is nothing.
 */
export function presentProvider(row: ProviderRow, now: Date) {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const rateLimits = row.rateLimits as unknown[];
  return {
    name: row.name,
    integration_id: row.integration.slug,
    note: row.note,
    status: expired ? 'expired' : row.status,
    usage_limits: row.usageLimits ?? undefined,
    rate_limits: rateLimits.length === 0 ? null : rateLimits,
    reset_usage: 0,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    last_reset_at: optionalInstant(row.lastResetAt),
    slug: row.slug,
    expires_at: optionalInstant(row.expiresAt) ?? undefined,
    object: 'provider',
  };
}
