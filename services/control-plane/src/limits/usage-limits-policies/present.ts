import type { AnswerOf } from '@sluice/contracts/admin';
import { optionalInstant } from '../../kernel/http/shapes.ts';
import { presentPolicy } from '../policy.ts';
import type { UsageLimitsEntityRow, UsageLimitsPolicyRow } from './store.ts';

type Shown = AnswerOf<'usage-limits-policies.read'>;
type Usage = NonNullable<Shown['value_key_usage_map']>[string];

export const object = 'policy_usage_limits' as const;

export function presentUsageLimitsPolicy(row: UsageLimitsPolicyRow): Shown {
  return {
    ...presentPolicy(row),
    type: row.type as Shown['type'],
    credit_limit: row.creditLimit,
    alert_threshold: row.alertThreshold,
    periodic_reset: row.periodicReset as Shown['periodic_reset'],
    periodic_reset_days: row.periodicResetDays,
    next_usage_reset_at: optionalInstant(row.nextUsageResetAt),
    last_reset_at: optionalInstant(row.lastResetAt),
    object,
  };
}

export function presentEntity(row: UsageLimitsEntityRow) {
  return { id: row.id, value_key: row.valueKey, current_usage: row.currentUsage.toNumber() };
}

export function presentUsage(row: UsageLimitsEntityRow): Usage {
  return {
    current_usage: row.currentUsage.toNumber(),
    status: row.status as Usage['status'],
    is_threshold_alerts_sent: row.thresholdAlertSent,
    is_exhausted_alerts_sent: row.exhaustedAlertSent,
  };
}
