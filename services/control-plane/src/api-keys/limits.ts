import type { UsageLimits } from '@sluice/contracts/admin';
import { planUsageReset } from '../limits/usage-reset.ts';

/** A key's limits as they are kept: with the time of the next reset. Weeks of keys begin on Sunday. */
export function plannedUsageLimits(
  sent: UsageLimits,
  stored: UsageLimits | null,
  now: Date,
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
    { now, weekStartsOn: 'sunday', path: 'body.usage_limits' },
  );
  return { ...sent, ...cadence, next_usage_reset_at: nextAt?.toISOString() ?? null };
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
