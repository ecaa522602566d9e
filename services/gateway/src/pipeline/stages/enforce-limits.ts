import type { Exchange } from '../../exchange/exchange.ts';
import type { Reply } from '../../exchange/reply.ts';
import { spendsNothing } from '../../limits/asked-endpoint.ts';
import type { LimitStore } from '../../limits/limit-store.ts';
import { type LimitWatchers, RequestLimits } from '../../limits/request-limits.ts';
import type { Stage } from '../pipeline.ts';

/**
 * The place of limits in the order of answers: behind authentication, before all
 * else. What is known to be spent is refused here, before anything is read;
 * counters are asked in one call when the first target is known
 * (`visit/steps/reserve.ts`). Who is refused before that meets a spent limit all
 * the same.
 */
export function enforceLimits(store: LimitStore, watch: LimitWatchers): Stage {
  return (exchange, next) => {
    if (RequestLimits.areNone(exchange) || spendsNothing(exchange)) return next();
    const limits = RequestLimits.of(store, exchange, watch);
    exchange.limits = limits;
    limits.refuseSpent();
    return withLimits(limits, exchange, next);
  };
}

async function withLimits(
  limits: RequestLimits,
  exchange: Exchange,
  next: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await next();
  } catch (caught) {
    throw exchange.isRouting ? caught : await limits.refusalInsteadOf(caught);
  } finally {
    limits.close();
  }
}
