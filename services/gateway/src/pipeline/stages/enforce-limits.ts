import { operations } from '@sluice/contracts';
import type { Stage } from '../../exchange/exchange.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import { requestFacts } from '../../limits/request-facts.ts';
import { RequestLimits } from '../../limits/request-limits.ts';

/** Limits that need no target: key, workspace, policies over both. Before anything is read or spent. */
export function enforceLimits(store: LimitStore): Stage {
  return async (exchange, next) => {
    const { key, bundle } = exchange;
    if (key === undefined || bundle === undefined)
      throw new Error('enforceLimits runs after authenticate');
    if (operations[exchange.route.endpoint].spends === 'nothing') return next();
    exchange.limits = new RequestLimits(store, key, bundle, requestFacts(exchange));
    const states = exchange.limits.reserveRequest();
    exchange.limitStates = states instanceof Promise ? await states : states;
    return next();
  };
}
