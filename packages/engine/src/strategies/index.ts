import type { StrategyMode } from '@sluice/contracts';
import type { Strategy } from '../route-node.ts';
import { conditional } from './conditional.ts';
import { fallback } from './fallback.ts';
import { leastLatency } from './least-latency.ts';
import { loadbalance } from './loadbalance.ts';
import { lowestCost } from './lowest-cost.ts';
import { single } from './single.ts';

/** Every way in which targets combine, one file each. */
export const strategies: Readonly<Record<StrategyMode, Strategy>> = {
  single,
  fallback,
  loadbalance,
  conditional,
  'least-latency': leastLatency,
  'lowest-cost': lowestCost,
};
