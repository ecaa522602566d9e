import { GatewayError } from '@sluice/errors';

/** @param why goes on after a colon, without its full stop */
export function nitroRefused(field: string, why: string): GatewayError {
  return new GatewayError('request.nitro_refused', {
    field,
    message: `The request cannot go to the provider unread (x-service-nitro-mode): ${why}.`,
  });
}
