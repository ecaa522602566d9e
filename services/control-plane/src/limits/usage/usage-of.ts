import { overshootBound, periodAt } from '@sluice/engine';
import type { LimitUsage } from '../../generated/prisma/client.ts';
import { type Budget, counted, told } from './budget.ts';

/** What a counter says of its epoch. */
export type UsageRow = Pick<
  LimitUsage,
  'generation' | 'periodStartMs' | 'posted' | 'reserved' | 'overshootBound'
>;

/** By the ids of limits that have one counter each. */
export type Usages = ReadonlyMap<string, UsageRow>;

export interface ShownUsage {
  current_usage: number;
  reserved: number;
  overshoot_bound: number;
  status: 'active' | 'exhausted';
}

const unused = { posted: 0n, reserved: 0n, overshootBound: 0n };

/** How much of a budget is used now: what was counted in an epoch that is over is not. */
export function usageOf(budget: Budget, row: UsageRow | undefined, now: Date): ShownUsage {
  // As it is reported it is of all that is under way, however much of the limit is left.
  const {
    posted,
    reserved,
    overshootBound: beyond,
  } = row !== undefined && isCurrent(budget, row, now) ? row : unused;
  const limit = counted(budget.type, budget.creditLimit);
  const bound = overshootBound(limit, { posted, reserved, beyond });
  return {
    current_usage: told(budget.type, posted),
    reserved: told(budget.type, reserved),
    overshoot_bound: told(budget.type, bound),
    status: posted >= limit ? 'exhausted' : 'active',
  };
}

/** Groups that were reset by hand are ahead of their policy's generation. */
export function isCurrent(
  { period }: Pick<Budget, 'period'>,
  row: Pick<UsageRow, 'generation' | 'periodStartMs'>,
  now: Date,
): boolean {
  const { generation, startedAtMs } = periodAt(period, now.getTime());
  return row.periodStartMs === BigInt(startedAtMs) && row.generation >= BigInt(generation);
}
