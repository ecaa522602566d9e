import type { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';

const { Outcome } = usage;

/** How a call ended that ended by this error. */
export function outcomeOf({ code, status }: GatewayError): usage.Outcome {
  if (code === 'request.aborted' || code === 'request.superseded') return Outcome.CALLER_GONE;
  if (code === 'upstream.error') return Outcome.UPSTREAM_ERROR;
  if (code.startsWith('upstream.')) return Outcome.UPSTREAM_FAILURE;
  return status >= 500 ? Outcome.GATEWAY_ERROR : Outcome.DENIED;
}
