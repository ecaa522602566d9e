import type { AnswerOf, RateLimit, UsageLimits } from '@sluice/contracts/admin';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import { presentUsageLimits } from '../../limits/usage-limits/present.ts';
import type { ProviderRow } from './store.ts';

type Shown = AnswerOf<'providers.read'>;

export function presentProvider(row: ProviderRow, now: Date): Shown {
  return {
    ...presentCommon(row, now),
    integration_id: row.integration.slug,
    tags: row.integration.tags as Shown['tags'],
    object: 'provider',
  };
}

/**
 * What a provider says of itself under either of its names. What is not
 * published as nullable is left out where there is nothing.
 */
export function presentCommon(row: ProviderRow, now: Date) {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const usageLimits = row.usageLimits as UsageLimits | null;
  const rateLimits = row.rateLimits as RateLimit[];
  return {
    name: row.name,
    note: row.note,
    status: expired ? ('expired' as const) : (row.status as 'active' | 'exhausted'),
    usage_limits: usageLimits === null ? undefined : presentUsageLimits(usageLimits),
    rate_limits: rateLimits.length === 0 ? null : rateLimits,
    reset_usage: 0,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    last_reset_at: optionalInstant(row.lastResetAt),
    slug: row.slug,
    expires_at: optionalInstant(row.expiresAt) ?? undefined,
  };
}
