import type { ReplyHeaders } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { Visit } from '../exchange/visit.ts';

/** Says how the reply came about. */
export function addGatewayHeaders(
  headers: ReplyHeaders,
  target: Target,
  { retryCount, cacheStatus }: Visit,
): void {
  headers['x-service-last-used-option-index'] = target.path;
  headers['x-service-provider'] = target.entry.id;
  headers['x-service-retry-attempt-count'] = String(retryCount);
  headers['x-service-cache-status'] = cacheStatus;
}
