import { GatewayError } from '@sluice/errors';

/** 401: `message` says what is wrong with the token, in words that help its owner. */
export function invalidToken(message: string, cause?: unknown): GatewayError {
  return new GatewayError('auth.invalid_token', { message, cause });
}

/** 403: the token may be genuine, but is not taken here. */
export function tokenNotAccepted(message: string): GatewayError {
  return new GatewayError('auth.token_not_accepted', { message });
}

/** 503: whoever vouches for the token cannot be asked. */
export function issuerUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('auth.issuer_unavailable', { cause, headers: { 'retry-after': '5' } });
}
