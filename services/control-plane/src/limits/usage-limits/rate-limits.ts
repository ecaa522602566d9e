import { type RateLimitSetting, rateKind } from '@sluice/contracts/admin';
import { newId } from '../../kernel/names/ids.ts';
import { type StoredRateLimit, setRules } from './stored-limits.ts';

/** Rates as they are kept. One of the same type and unit goes on counting, whatever its value. */
export function plannedRateLimits(
  sent: readonly RateLimitSetting[],
  stored: readonly StoredRateLimit[],
): StoredRateLimit[] {
  const idOf = new Map(stored.map((limit) => [rateKind(limit), limit.id]));
  return sent.map((limit) => ({
    id: idOf.get(rateKind(limit)) ?? newId(),
    type: limit.type,
    unit: limit.unit,
    value: limit.value,
    ...setRules(limit),
  }));
}
