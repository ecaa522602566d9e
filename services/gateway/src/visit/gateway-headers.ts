import type { Visit } from '../exchange/exchange.ts';
import type { Progress } from '../exchange/progress.ts';
import type { Reply, ReplyHeaders } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import { isCacheHit } from '../exchange/visit.ts';

/** Says how the reply came about, as far as that is known before its body has ended. */
export function addGatewayHeaders(
  reply: Reply,
  target: Target,
  { exchange, retryCount, cacheStatus, summary }: Visit,
): void {
  const { headers } = reply;
  headers['x-service-last-used-option-index'] = target.path;
  headers['x-service-provider'] = target.entry.id;
  if (target.saved !== undefined) headers['x-service-provider-slug'] = target.saved.slug;
  headers['x-service-retry-attempt-count'] = String(retryCount);
  headers['x-service-cache-status'] = cacheStatus;
  // What a stream costs is known with its last event, which some of them have sent by now.
  const isTold = reply.kind === 'body' && reply.isPassed !== true;
  if (summary !== undefined && (isTold || isCacheHit(cacheStatus)))
    addCostHeaders(headers, exchange.progress);
}

/** What all calls that are over cost, unless one of them has no known price. */
export function addCostHeaders(headers: ReplyHeaders, progress: Progress): void {
  if (progress.lacksPrice) return;
  headers['x-service-cost'] = centsText(progress.costNanoUsd);
  if (progress.unpricedUnits !== '') headers['x-service-unpriced-units'] = progress.unpricedUnits;
}

/** US cents, as logs and analytics have them, to the last nano-dollar. */
export function centsText(nanoUsd: number): string {
  const cents = (nanoUsd / 1e7).toFixed(7);
  return cents.replace(/\.?0+$/, '');
}
