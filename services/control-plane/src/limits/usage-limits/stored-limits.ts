import type { LimitRules, RateLimitSetting, UsageLimits } from '@sluice/contracts/admin';
import type { Budget } from '../usage/budget.ts';
import { type KeptPeriod, periodOf } from './period.ts';

/** A budget of a key, provider, workspace or grant as it is kept. */
export type StoredUsageLimits = UsageLimits & {
  id: string;
  /** Raised by every reset by hand; missing = there was none. */
  generation?: number;
  /** The last reset by the clock that was written down. */
  period_started_at?: string | null;
  /** The last reset by hand. */
  last_reset_at?: string | null;
};

export type StoredRateLimit = Pick<RateLimitSetting, 'type' | 'unit' | 'value'> &
  Omit<SetRules, 'unpriced'> & { id: string };

export function keptPeriod(limits: StoredUsageLimits): KeptPeriod {
  return {
    generation: limits.generation ?? 0,
    startedAt: dateOf(limits.period_started_at),
    nextAt: dateOf(limits.next_usage_reset_at),
    periodic_reset: limits.periodic_reset ?? null,
    periodic_reset_days: limits.periodic_reset_days ?? null,
  };
}

export function budgetOf(limits: StoredUsageLimits): Budget {
  return {
    id: limits.id,
    type: limits.type,
    creditLimit: limits.credit_limit,
    alertThreshold: limits.alert_threshold ?? null,
    period: periodOf(keptPeriod(limits), 'holder'),
    shadow: limits.shadow === true,
  };
}

/** Only the rules of what was sent. */
export function rulesIn(sent: LimitRules): LimitRules {
  const { shadow, admission, estimate, without_shared, unpriced } = sent;
  return { shadow, admission, estimate, without_shared, unpriced };
}

/** Those that say something. */
export function setRules(sent: LimitRules): SetRules {
  const { shadow, admission, estimate, without_shared, unpriced } = sent;
  return {
    ...(shadow === true && { shadow }),
    ...(admission != null && { admission }),
    ...(estimate != null && { estimate }),
    ...(without_shared != null && { without_shared }),
    ...(unpriced != null && { unpriced }),
  };
}

export type SetRules = { [Rule in keyof LimitRules]?: NonNullable<LimitRules[Rule]> };

function dateOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}
