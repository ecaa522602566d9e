import type { ShownUsageLimits } from '@sluice/contracts/admin';
import { optionalInstant } from '../../kernel/http/shapes.ts';
import { type Usages, usageOf } from '../usage/usage-of.ts';
import { movedOn } from './period.ts';
import { budgetOf, keptPeriod, type StoredUsageLimits, setRules } from './stored-limits.ts';

/**
 * Usage limits as they are shown, without a threshold that was never set: null is not published for it.
 * @param usages  what is used of them; undefined = that is not told
 */
export function presentUsageLimits(
  stored: StoredUsageLimits,
  now: Date,
  usages: Usages | undefined,
): ShownUsageLimits {
  const { startedAt, nextAt, ...cadence } = movedOn(keptPeriod(stored), 'holder', now);
  return {
    id: stored.id,
    credit_limit: stored.credit_limit,
    type: stored.type,
    alert_threshold: stored.alert_threshold ?? undefined,
    periodic_reset: cadence.periodic_reset,
    periodic_reset_days: cadence.periodic_reset_days,
    next_usage_reset_at: optionalInstant(nextAt),
    last_reset_at: laterOf(stored.last_reset_at ?? null, optionalInstant(startedAt)),
    ...(usages !== undefined && usageOf(budgetOf(stored), usages.get(stored.id), now)),
    ...setRules(stored),
  };
}

/** Of two instants as they are written, or of one. */
export function laterOf(one: string | null, other: string | null): string | null {
  return (one ?? '') > (other ?? '') ? one : other;
}

/** Whether one of them is used up that is not only watched. */
export function areExhausted(
  limits: readonly StoredUsageLimits[],
  now: Date,
  usages: Usages | undefined,
): boolean {
  return limits.some((each) => {
    const budget = budgetOf(each);
    const { status } = usageOf(budget, usages?.get(each.id), now);
    return status === 'exhausted' && !budget.shadow;
  });
}
