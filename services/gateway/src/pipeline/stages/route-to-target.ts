import { remainingHeaders } from '../../policies/refusal.ts';
import { type AttemptDeps, attempt } from '../../routing/attempt.ts';
import { resolveTarget } from '../../routing/target.ts';
import type { Stage } from '../exchange.ts';

/** Innermost: picks the target and tries it. Strategies and retries are loops that will stand here. */
export function routeToTarget(deps: AttemptDeps): Stage {
  return async (exchange) => {
    exchange.isRouting = true;
    const target = resolveTarget(exchange);
    exchange.target = { provider: target.entry.id, path: target.path };
    const reply = await attempt(exchange, target, deps);
    if (exchange.limitStates.length > 0)
      Object.assign(reply.headers, remainingHeaders(exchange.limitStates, exchange.startedAtMs));
    return reply;
  };
}
