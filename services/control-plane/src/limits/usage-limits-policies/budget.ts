import type { UsageLimitsPolicyType } from '@sluice/contracts/admin';
import type { UsageLimitsPolicy } from '../../generated/prisma/client.ts';
import type { Budget } from '../usage/budget.ts';
import { type KeptPeriod, periodOf } from '../usage-limits/period.ts';
import type { SetRules } from '../usage-limits/stored-limits.ts';

export type UsageLimitsPolicyRow = UsageLimitsPolicy;

export function periodKept(policy: UsageLimitsPolicyRow): KeptPeriod {
  return {
    generation: Number(policy.generation),
    startedAt: policy.periodStartedAt,
    nextAt: policy.nextUsageResetAt,
    periodic_reset: policy.periodicReset as KeptPeriod['periodic_reset'],
    periodic_reset_days: policy.periodicResetDays,
  };
}

/** The budget that each of its groups has. */
export function budgetOf(policy: UsageLimitsPolicyRow): Budget {
  return {
    id: policy.id,
    type: policy.type as UsageLimitsPolicyType,
    creditLimit: policy.creditLimit,
    alertThreshold: policy.alertThreshold,
    period: periodOf(periodKept(policy), 'policy'),
    shadow: (policy.rules as SetRules).shadow === true,
  };
}
