import type { ShownUsageLimits, UsageLimits } from '@sluice/contracts/admin';

/** Usage limits as they are kept, without a threshold that was never set: null is not published for it. */
export function presentUsageLimits(stored: UsageLimits): ShownUsageLimits {
  return {
    credit_limit: stored.credit_limit,
    type: stored.type,
    alert_threshold: stored.alert_threshold ?? undefined,
    periodic_reset: stored.periodic_reset ?? null,
    periodic_reset_days: stored.periodic_reset_days ?? null,
    next_usage_reset_at: stored.next_usage_reset_at ?? null,
  };
}
