import type { ReplyBill, ReplyUnits } from '@sluice/contracts';

/**
 * Adds what a later part of a stream said. It repeats and completes what earlier
 * ones did: counts only grow, the last word holds for everything else.
 */
export function addBill(facts: ReplyBill, later: ReplyBill): void {
  const units =
    facts.units === undefined || later.units === undefined
      ? undefined
      : mergeUnits(facts.units, later.units);
  Object.assign(facts, later);
  if (units !== undefined) facts.units = units;
}

/** Of each unit the more that was said. */
export function mergeUnits(told: ReplyUnits, later: ReplyUnits): ReplyUnits {
  const merged: Record<string, number | string | undefined> = { ...told };
  for (const [unit, count] of Object.entries(later)) {
    const before = merged[unit];
    merged[unit] =
      typeof before === 'number' && typeof count === 'number' ? Math.max(before, count) : count;
  }
  return merged;
}
