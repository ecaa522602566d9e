import type { EndpointEntry } from '@sluice/providers';
import type { Target } from '../exchange/target.ts';

/** What the provider says of pass-through calls, if anything. */
export function proxyEntry({ entry }: Target): EndpointEntry | undefined {
  const offered = entry.endpoints.proxy;
  return offered === undefined || 'choose' in offered ? undefined : offered;
}
