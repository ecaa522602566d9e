import { changedHeader, type InForce, inForceHeader, writeChanged } from '@sluice/contracts';
import type { Committed } from '../database/change.ts';

/** Whether every gateway has what was told before this barrier. */
export type WhenPassed = (barrier: string) => Promise<boolean>;

/** Headers of the answer of a change: it waits for the gateways, though not for long, and says what it knows of them. */
export async function whenInForce(
  committed: readonly Committed[],
  whenPassed: WhenPassed,
): Promise<Record<string, string>> {
  const passed = await Promise.all(committed.map(({ barrier }) => whenPassed(barrier)));
  return inForceHeaders(committed, passed.every(Boolean) ? 'everywhere' : 'pending');
}

/** None, where gateways hold nothing of it. */
export function inForceHeaders(
  committed: readonly Committed[],
  inForce: InForce,
): Record<string, string> {
  if (committed.length === 0) return {};
  return {
    [changedHeader]: writeChanged(committed.flatMap(({ notices }) => notices)),
    [inForceHeader]: inForce,
  };
}
