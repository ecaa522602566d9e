import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { objectOf, parseObject } from '../json/json-access.ts';
import { readVendorError } from './read-vendor-error.ts';

/** An error that came with a good status: `error`, vLLM's `object`, or MiniMax's code, where 0 is none. */
export function isErrorReply(body: JsonObject | undefined): boolean {
  if (body === undefined) return false;
  const base = objectOf(body.base_resp);
  return (
    Boolean(body.error) ||
    body.object === 'error' ||
    body.type === 'error' ||
    (base !== undefined && base.status_code !== 0)
  );
}

/**
 * A good status without a good body. Some vendors send their errors so
 * (OpenRouter, MiniMax): those are passed on in their words; any other body is
 * quoted for operators, not for callers.
 */
export function notTheFormat(bytes: Buffer): GatewayError {
  // An error is short; whatever is longer is not looked into again.
  const text = bytes.toString('utf8', 0, 65_536);
  const detail = { body: text.slice(0, 2048) };
  if (!isErrorReply(parseObject(text)))
    return new GatewayError('upstream.invalid_response', { detail });
  const { message } = readVendorError(200, text);
  return new GatewayError('upstream.invalid_response', {
    message: `The provider answered with an error in place of a reply: ${message}`,
    detail,
  });
}
