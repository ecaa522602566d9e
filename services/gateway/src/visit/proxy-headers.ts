import { carriesServiceKey, credentialHeaders } from '../calls/prepare/request-headers.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import { isOurs } from '../http/caller-headers.ts';
import { connectionTokens, hopByHop } from '../http/connection-headers.ts';
import { isHeldBack } from './targets/credential-rule.ts';

/** Where providers look for who asks. */
const proofs = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

/**
 * Pass-through: everything the caller sent except our own headers, those of the
 * connection, and cookies, which are the gateway's host's unless a list of headers
 * to forward names them. The gateway's credentials win over the caller's.
 */
export function proxyHeaders(
  exchange: ModelExchange,
  target: Target,
  readsReply: boolean,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const named = connectionTokens(exchange.arrival.headers.connection);
  const credential = credentialHeaders(target, undefined);
  const passesCookies = target.forwardHeaders?.some((name) => name.toLowerCase() === 'cookie');
  const own = { ...credential, ...target.customHeaders };
  for (const [name, value] of Object.entries(exchange.arrival.headers)) {
    if (value === undefined || hopByHop.has(name) || named?.has(name) || isOurs(name)) continue;
    if (name === 'cookie' && passesCookies !== true) continue;
    if (isHeldBack(name, exchange, target, own)) continue;
    // The service key must not travel on, wherever it was sent.
    if (!carriesServiceKey(exchange.arrival, value)) headers[name] = value;
  }
  for (const [name, value] of Object.entries(target.entry.headers ?? {})) headers[name] ??= value;
  // Two proofs side by side would leave it to the provider whose account it is.
  if (proofs.some((name) => credential[name] !== undefined))
    for (const name of proofs) delete headers[name];
  Object.assign(headers, own);
  // A reply whose usage we read must not be compressed on the way.
  if (readsReply) headers['accept-encoding'] = 'identity';
  return headers;
}
