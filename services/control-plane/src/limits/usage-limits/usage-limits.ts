import type { UsageLimits } from '@sluice/contracts/admin';
import { planUsageReset } from './usage-reset.ts';

/**
 * Limits of a key, provider, workspace or grant as they are kept: with the time
 * of the next reset. Their weeks begin on Sunday.
 */
export function plannedUsageLimits(
  sent: UsageLimits,
  stored: UsageLimits | null,
  now: Date,
  path = 'body.usage_limits',
): UsageLimits {
  const { next_usage_reset_at: date } = sent;
  const { nextAt, ...cadence } = planUsageReset(
    {
      periodic_reset: sent.periodic_reset ?? null,
      periodic_reset_days: sent.periodic_reset_days ?? null,
      next_usage_reset_at: date == null ? date : new Date(date),
    },
    stored === null
      ? undefined
      : {
          periodic_reset: stored.periodic_reset ?? null,
          periodic_reset_days: stored.periodic_reset_days ?? null,
          nextAt: stored.next_usage_reset_at == null ? null : new Date(stored.next_usage_reset_at),
        },
    { now, weekStartsOn: 'sunday', path },
  );
  return { ...sent, ...cadence, next_usage_reset_at: nextAt?.toISOString() ?? null };
}

/** The same for a list of limits, each beside what was stored of its type. */
export function plannedUsageLimitsList(
  sent: readonly UsageLimits[],
  stored: readonly UsageLimits[],
  now: Date,
): UsageLimits[] {
  return sent.map((limits, index) => {
    const before = stored.find(({ type }) => type === limits.type) ?? null;
    return plannedUsageLimits(limits, before, now, `body.usage_limits[${index}]`);
  });
}

/** Whether more may be spent than before. */
export function raisesCredit(
  sent: UsageLimits | null | undefined,
  stored: UsageLimits | null,
): boolean {
  if (sent === undefined) return false;
  if (sent === null) return true;
  return sent.credit_limit > (stored?.credit_limit ?? Number.POSITIVE_INFINITY);
}
