import { authHeaders, type EndpointEntry } from '@sluice/providers';
import type { ModelRequester, RequesterArrival } from '../../exchange/requester.ts';
import type { Target } from '../../exchange/target.ts';
import { isOurs } from '../../http/caller-headers.ts';
import { hopByHop } from '../../http/connection-headers.ts';

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

/** Unified endpoints: credentials and type of ours, and what the caller asked to forward. */
export function unifiedHeaders(
  { arrival, subject }: ModelRequester,
  target: Target,
  entry: EndpointEntry,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { accept: '*/*', 'user-agent': 'sluice' };
  if (subject.body !== undefined)
    headers['content-type'] =
      subject.form === undefined ? 'application/json' : (arrival.headers['content-type'] as string);
  Object.assign(headers, credentialHeaders(target, entry), target.customHeaders);
  for (const listed of target.forwardHeaders ?? []) {
    const name = listed.toLowerCase();
    const value = arrival.headers[name];
    if (value === undefined || neverForwarded.has(name) || isOurs(name)) continue;
    // The service key must not travel on, even when it is asked to.
    if (!carriesServiceKey(arrival, value)) headers[name] = value;
  }
  return headers;
}

export function credentialHeaders(
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

export function carriesServiceKey(
  { caller }: RequesterArrival,
  value: string | string[] | undefined,
): boolean {
  const secret = caller.serviceKey;
  return secret !== undefined && typeof value === 'string' && value.includes(secret);
}
