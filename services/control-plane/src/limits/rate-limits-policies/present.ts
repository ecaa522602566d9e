import type { AnswerOf } from '@sluice/contracts/admin';
import { presentPolicy } from '../policy.ts';
import type { RateLimitsPolicyRow } from './store.ts';

type Shown = AnswerOf<'rate-limits-policies.read'>;

export const object = 'policy_rate_limits' as const;

export function presentRateLimitsPolicy(row: RateLimitsPolicyRow): Shown {
  return {
    ...presentPolicy(row),
    type: row.type as Shown['type'],
    unit: row.unit as Shown['unit'],
    value: row.value,
    target: row.target as Shown['target'],
    object,
  };
}
