import { GatewayError } from '@sluice/errors';

/** The body is quoted for operators, not for callers. */
export function notTheFormat(text: string): GatewayError {
  return new GatewayError('upstream.invalid_response', { detail: { body: text.slice(0, 2048) } });
}
