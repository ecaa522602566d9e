import type { MintedSecret } from '../exchange/asked-session.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import { isOurs } from '../http/caller-headers.ts';

/** As whom a request was made, and what it said of how: for what is asked later in its name. It has no key in it. */
export function askerOf({
  arrival,
  key,
  subject,
}: ModelExchange): Pick<MintedSecret, 'by' | 'headers'> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(arrival.headers))
    if (isOurs(name) && name !== 'x-service-api-key' && typeof value === 'string')
      headers[name] = value;
  headers['x-service-trace-id'] ??= arrival.traceId;
  if (subject.minted !== undefined) return { by: subject.minted.by, headers };
  if (key === undefined) throw new Error('it is of a key');
  const { serviceKey = '' } = arrival.caller;
  return { by: 'validUntilMs' in key ? { token: serviceKey } : { keyHash: key.hashHex }, headers };
}
