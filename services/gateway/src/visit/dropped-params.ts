import { GatewayError } from '@sluice/errors';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';

/**
 * What of a request the provider's format cannot carry: told in a header, or
 * refused where anybody asks for that – the operator, the config, the caller.
 * Nobody can switch off what another has asked for.
 * @throws GatewayError `request.params_dropped`
 */
export function refuseDropped(
  exchange: ModelExchange,
  target: Target,
  { droppedParams }: PreparedCall,
  { strictParams }: { strictParams: boolean },
): void {
  if (droppedParams.length === 0 || !isStrict(exchange, target, { strictParams })) return;
  throw new GatewayError('request.params_dropped', {
    field: droppedParams[0],
    message: `The provider cannot take: ${listOf(droppedParams, ', ')}.`,
  });
}

/** Whether anybody wants a refusal in place of a request that lacks something. */
export function isStrict(
  exchange: ModelExchange,
  target: Target,
  { strictParams }: { strictParams: boolean },
): boolean {
  return (
    strictParams || exchange.arrival.caller.strictParams || target.planned.strictParams === true
  );
}

/** Names them in the reply. */
export function addDroppedHeader(headers: ReplyHeaders, { droppedParams }: PreparedCall): void {
  if (droppedParams.length > 0)
    headers['x-service-dropped-params'] = listOf(droppedParams, ',').replace(/[^\x20-\x7e]/g, '?');
}

/** More names than this help nobody. */
function listOf(names: readonly string[], separator: string): string {
  return names.slice(0, 50).join(separator);
}
