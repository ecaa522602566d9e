import { GatewayError } from '@sluice/errors';

/** A fault in the caller's body; `path` is without the leading `body.`. */
export function invalidField(path: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${path}`,
    message: `body.${path} ${what}.`,
  });
}
