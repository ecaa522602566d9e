import type { ReplyUnits } from '@sluice/contracts';
import { countOf } from '../json/json-access.ts';

/** Of numbers in a reply those that are counts of something; undefined when there is none. */
export function countedUnits(
  told: Readonly<{ [Unit in keyof ReplyUnits]?: unknown }>,
): ReplyUnits | undefined {
  const units: Record<string, number | string> = {};
  let isEmpty = true;
  for (const unit in told) {
    const value = told[unit as keyof ReplyUnits];
    const counted = typeof value === 'string' ? value : countOf(value);
    if (counted === 0 || counted === '') continue;
    units[unit] = counted;
    isEmpty = false;
  }
  return isEmpty ? undefined : units;
}
