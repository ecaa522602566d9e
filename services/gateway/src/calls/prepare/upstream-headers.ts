import { authHeaders, type EndpointEntry } from '@sluice/providers';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { Target } from '../../exchange/target.ts';
import { prefix } from '../../http/caller-headers.ts';
import { isHeldBack } from '../../visit/target/credential-rule.ts';

/** Headers that belong to one connection, never to the next. */
export const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'content-length',
]);

/**
 * What a forward list cannot ask for: headers of the connection, a compression
 * that would hide the usage, and what opens a cloud's metadata service.
 */
const neverForwarded = new Set([
  ...hopByHop,
  'accept-encoding',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-google-metadata-request',
]);

/** Where providers look for who asks. */
const proofs = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

/** Unified endpoints: credentials and type of ours, and what the caller asked to forward. */
export function unifiedHeaders(
  exchange: ModelExchange,
  target: Target,
  entry: EndpointEntry,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { accept: '*/*', 'user-agent': 'sluice' };
  if (exchange.subject.body !== undefined)
    headers['content-type'] =
      exchange.subject.form === undefined
        ? 'application/json'
        : (exchange.arrival.headers['content-type'] as string);
  Object.assign(headers, credentialHeaders(target, entry), target.customHeaders);
  for (const listed of target.forwardHeaders ?? []) {
    const name = listed.toLowerCase();
    const value = exchange.arrival.headers[name];
    if (value === undefined || neverForwarded.has(name) || isOurs(name)) continue;
    // The service key must not travel on, even when it is asked to.
    if (!carriesServiceKey(exchange, value)) headers[name] = value;
  }
  return headers;
}

/**
 * Pass-through: everything the caller sent except our own headers and those of
 * the connection. The gateway's credentials win over the caller's.
 */
export function proxyHeaders(
  exchange: ModelExchange,
  target: Target,
  readsReply: boolean,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const named = connectionTokens(exchange.arrival.headers.connection);
  const credential = credentialHeaders(target, undefined);
  const own = { ...credential, ...target.customHeaders };
  for (const [name, value] of Object.entries(exchange.arrival.headers)) {
    if (value === undefined || hopByHop.has(name) || named?.has(name) || isOurs(name)) continue;
    if (isHeldBack(name, exchange, target, own)) continue;
    // The service key must not travel on, wherever it was sent.
    if (!carriesServiceKey(exchange, value)) headers[name] = value;
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

function credentialHeaders(
  target: Target,
  entry: EndpointEntry | undefined,
): Record<string, string> {
  return authHeaders(
    target.entry,
    { apiKey: target.apiKey, configurations: target.configurations },
    target.settingHeaders,
    entry,
  );
}

function carriesServiceKey(exchange: ModelExchange, value: string | string[] | undefined): boolean {
  const secret = exchange.arrival.caller.serviceKey;
  return secret !== undefined && typeof value === 'string' && value.includes(secret);
}

export function isOurs(name: string): boolean {
  return name.startsWith(prefix);
}

/** The headers that `Connection` declares to be of this connection only. */
export function connectionTokens(
  value: string | readonly string[] | undefined,
): Set<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  // Sent twice, it comes as a list.
  return new Set(
    String(value)
      .split(',')
      .map((token) => token.trim().toLowerCase()),
  );
}
