import type { ResolvedTarget } from '@sluice/engine';
import type { ModelExchange } from '../../exchange/exchange.ts';

/**
 * The request as this target is asked it: one that names a saved prompt gets
 * the request that is made from that, and its record names it. What is counted,
 * tried and visited stays the one request's.
 */
export function askedOf(exchange: ModelExchange, { promptId }: ResolvedTarget): ModelExchange {
  if (promptId === undefined) return exchange;
  const subject = exchange.subject.byPrompt?.get(promptId);
  return subject === undefined ? exchange : { ...exchange, subject };
}
