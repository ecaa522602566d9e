import { budgetKind, type UsageLimits } from '@sluice/contracts/admin';
import { newId } from '../../kernel/names/ids.ts';
import { movedOn, notPassed, weekStarts } from './period.ts';
import { keptPeriod, type StoredUsageLimits, setRules } from './stored-limits.ts';
import { planUsageReset } from './usage-reset.ts';

/**
 * A budget of a key, provider, workspace or grant as it is kept. Its count goes
 * on when its amount or its dates change; one that counts something else is another.
 */
export function plannedUsageLimits(
  sent: UsageLimits,
  stored: StoredUsageLimits | null,
  now: Date,
  path = 'body.usage_limits',
): StoredUsageLimits {
  const { credit_limit, type, alert_threshold, next_usage_reset_at } = sent;
  const before = stored?.type === type ? stored : null;
  const kept = before === null ? undefined : keptPeriod(before);
  const period = kept && movedOn(kept, 'holder', now);
  const date = next_usage_reset_at == null ? next_usage_reset_at : new Date(next_usage_reset_at);
  const { nextAt, ...cadence } = planUsageReset(
    {
      periodic_reset: sent.periodic_reset ?? null,
      periodic_reset_days: sent.periodic_reset_days ?? null,
      next_usage_reset_at: kept === undefined ? date : notPassed(kept, 'holder', date, now),
    },
    period,
    { now, weekStartsOn: weekStarts.holder, path },
  );
  return {
    id: before?.id ?? newId(),
    credit_limit,
    type,
    ...(alert_threshold == null ? {} : { alert_threshold }),
    ...cadence,
    next_usage_reset_at: nextAt?.toISOString() ?? null,
    generation: period?.generation ?? 0,
    period_started_at: period?.startedAt?.toISOString() ?? null,
    last_reset_at: before?.last_reset_at ?? null,
    ...setRules(sent),
  };
}

/** The same for a list, each beside the stored one of its kind, or else one of its type. */
export function plannedUsageLimitsList(
  sent: readonly UsageLimits[],
  stored: readonly StoredUsageLimits[],
  now: Date,
  path = 'body.usage_limits',
): StoredUsageLimits[] {
  const left = [...stored];
  const take = (fits: (each: StoredUsageLimits) => boolean): StoredUsageLimits | undefined => {
    const index = left.findIndex(fits);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const same = sent.map((limits) => take((each) => budgetKind(each) === budgetKind(limits)));
  return sent.map((limits, index) => {
    const before = same[index] ?? take(({ type }) => type === limits.type) ?? null;
    return plannedUsageLimits(limits, before, now, `${path}[${index}]`);
  });
}

/** The same budget with its count begun anew. */
export function resetUsage(limits: StoredUsageLimits, now: Date): StoredUsageLimits {
  return {
    ...limits,
    generation: (limits.generation ?? 0) + 1,
    last_reset_at: now.toISOString(),
  };
}
