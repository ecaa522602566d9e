import { changedHeader, type InForce, inForceHeader, writeChanged } from '@sluice/contracts';
import type { Response } from 'express';
import type { Committed } from '../database/change.ts';

/** Whether every gateway has what was told before this barrier. */
export type WhenPassed = (barrier: string) => Promise<boolean>;

/** The answer of a change waits for the gateways, though not for long, and says what it knows of them. */
export async function tellInForce(
  res: Response,
  committed: readonly Committed[],
  whenPassed: WhenPassed,
): Promise<void> {
  if (committed.length === 0) return;
  const passed = await Promise.all(committed.map(({ barrier }) => whenPassed(barrier)));
  const inForce: InForce = passed.every(Boolean) ? 'everywhere' : 'pending';
  res.set(changedHeader, writeChanged(committed.flatMap(({ notices }) => notices)));
  res.set(inForceHeader, inForce);
}
