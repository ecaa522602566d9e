import type { AnswerOf } from '@sluice/contracts/admin';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { Usages } from '../../limits/usage/usage-of.ts';
import { areExhausted, laterOf, presentUsageLimits } from '../../limits/usage-limits/present.ts';
import type { StoredUsageLimits } from '../../limits/usage-limits/stored-limits.ts';
import type { ProviderRow } from './store.ts';

type Shown = AnswerOf<'providers.read'>;

/** @param usages  what is used of its budget; undefined = that is not told */
export function presentProvider(row: ProviderRow, now: Date, usages?: Usages): Shown {
  return {
    ...presentCommon(row, now, usages),
    integration_id: row.integration.slug,
    tags: row.integration.tags as Shown['tags'],
    object: 'provider',
  };
}

/**
 * What a provider says of itself under either of its names. What is not
 * published as nullable is left out where there is nothing.
 */
export function presentCommon(row: ProviderRow, now: Date, usages: Usages | undefined) {
  const expired = row.expiresAt !== null && row.expiresAt <= now;
  const limits = row.usageLimits as StoredUsageLimits | null;
  const rateLimits = row.rateLimits as NonNullable<Shown['rate_limits']>;
  const usageLimits = limits === null ? undefined : presentUsageLimits(limits, now, usages);
  const used = limits !== null && areExhausted([limits], now, usages) ? 'exhausted' : 'active';
  return {
    name: row.name,
    note: row.note,
    status: expired ? ('expired' as const) : (used as 'active' | 'exhausted'),
    usage_limits: usageLimits,
    rate_limits: rateLimits.length === 0 ? null : rateLimits,
    reset_usage: 0,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    last_reset_at: laterOf(optionalInstant(row.lastResetAt), usageLimits?.last_reset_at ?? null),
    slug: row.slug,
    expires_at: optionalInstant(row.expiresAt) ?? undefined,
  };
}
