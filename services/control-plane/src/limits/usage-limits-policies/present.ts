import type { AnswerOf } from '@sluice/contracts/admin';
import { optionalInstant } from '../../kernel/http/shapes.ts';
import { presentPolicy } from '../policy.ts';
import { isCurrent, usageOf } from '../usage/usage-of.ts';
import { movedOn } from '../usage-limits/period.ts';
import { laterOf } from '../usage-limits/present.ts';
import { budgetOf, periodKept, type UsageLimitsPolicyRow } from './budget.ts';
import type { EntityRow } from './store.ts';

type Shown = AnswerOf<'usage-limits-policies.read'>;
type Usage = NonNullable<Shown['value_key_usage_map']>[string];

export const object = 'policy_usage_limits' as const;

export function presentUsageLimitsPolicy(row: UsageLimitsPolicyRow, now: Date): Shown {
  const { startedAt, nextAt } = movedOn(periodKept(row), 'policy', now);
  return {
    ...presentPolicy(row),
    type: row.type as Shown['type'],
    credit_limit: row.creditLimit,
    alert_threshold: row.alertThreshold,
    periodic_reset: row.periodicReset as Shown['periodic_reset'],
    periodic_reset_days: row.periodicResetDays,
    next_usage_reset_at: optionalInstant(nextAt),
    last_reset_at: laterOf(optionalInstant(row.lastResetAt), optionalInstant(startedAt)),
    object,
  };
}

export function presentEntity(policy: UsageLimitsPolicyRow, row: EntityRow, now: Date) {
  const { startedAt } = movedOn(periodKept(policy), 'policy', now);
  return {
    id: row.groupId,
    value_key: row.valueKey,
    ...usageOf(budgetOf(policy), row, now),
    last_reset_at: laterOf(optionalInstant(row.lastResetAt), optionalInstant(startedAt)),
  };
}

export function presentUsage(policy: UsageLimitsPolicyRow, row: EntityRow, now: Date): Usage {
  const budget = budgetOf(policy);
  const isPresent = isCurrent(budget, row, now);
  return {
    ...usageOf(budget, row, now),
    is_threshold_alerts_sent: isPresent && row.thresholdAlertSent,
    is_exhausted_alerts_sent: isPresent && row.exhaustedAlertSent,
  };
}
