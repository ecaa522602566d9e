import { GatewayError } from '@sluice/errors';
import { objectOf, parseObject } from '../json/json-access.ts';
import { readVendorError } from './read-vendor-error.ts';

/**
 * A good status without a good body. Some vendors send their errors so
 * (OpenRouter, MiniMax): those are passed on in their words; any other body is
 * quoted for operators, not for callers.
 */
export function notTheFormat(bytes: Buffer): GatewayError {
  // An error is short; whatever is longer is not looked into again.
  const text = bytes.toString('utf8', 0, 65_536);
  const detail = { body: text.slice(0, 2048) };
  const body = parseObject(text);
  const isError = Boolean(body?.error) || objectOf(body?.base_resp) !== undefined;
  if (!isError) return new GatewayError('upstream.invalid_response', { detail });
  const { message } = readVendorError(200, text);
  return new GatewayError('upstream.invalid_response', {
    message: `The provider answered with an error in place of a reply: ${message}`,
    detail,
  });
}
