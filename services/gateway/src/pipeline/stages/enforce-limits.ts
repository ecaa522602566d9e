import type { LimitStore } from '../../limits/limit-store.ts';
import { requestFacts } from '../../limits/request-facts.ts';
import { RequestLimits } from '../../limits/request-limits.ts';
import type { Stage } from '../pipeline.ts';

/** Limits that need no target: key, workspace, policies over both. Before anything is read or spent. */
export function enforceLimits(store: LimitStore): Stage {
  return async (exchange, next) => {
    const { key, bundle } = exchange;
    if (key === undefined || bundle === undefined)
      throw new Error('enforceLimits runs after authenticate');
    if (exchange.subject.operation.spends === 'nothing') return next();
    const limits = new RequestLimits(store, key, bundle, requestFacts(exchange));
    exchange.limits = limits;
    const states = limits.reserveRequest();
    exchange.limitStates = states instanceof Promise ? await states : states;
    return next();
  };
}
