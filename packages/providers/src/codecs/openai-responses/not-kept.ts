import { GatewayError } from '@sluice/errors';

/** Of what a caller refers to, since the provider that told it may have kept it; `path` is without the leading `body.`. */
export function notKept(path: string, what: string): GatewayError {
  return new GatewayError('request.state_not_kept', {
    field: `body.${path}`,
    message: `body.${path} ${what}.`,
  });
}
