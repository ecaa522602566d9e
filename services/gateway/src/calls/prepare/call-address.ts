import { type AddressAuthor, checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import { baseUrlOf, type CallFacts, type EndpointEntry } from '@sluice/providers';
import type { Target } from '../../exchange/target.ts';
import { withoutTrailingSlashes } from '../../http/request-target.ts';

/** Where a target is, past the host rules on the text of its address. @throws GatewayError for hosts that may not be called */
export function checkedBase(
  target: Target,
  entry: EndpointEntry | undefined,
  facts: CallFacts,
  rules: HostRules,
  addressBy: AddressAuthor,
): URL {
  const { customHost } = target;
  const url = customHost?.url ?? baseUrlOf(target.entry, entry, facts);
  return checkUpstreamUrl(url, rules, customHost?.field, addressBy).url;
}

/** The caller's query, and what the endpoint is asked for where that does not say it. */
export function searchOf({ query }: EndpointEntry, search: string): string {
  if (query === undefined) return search;
  const told = new URLSearchParams(search);
  const own = Object.entries(query).filter(([name]) => !told.has(name));
  if (own.length === 0) return search;
  const added = new URLSearchParams(own).toString();
  return search === '' ? `?${added}` : `${search}&${added}`;
}

/** A version that ends the base and begins the path is one and the same. */
export function joinPaths(base: URL, path: string, search: string): string {
  const prefix = withoutTrailingSlashes(base.pathname);
  const version = /\/v[0-9]+[a-z0-9]*$/.exec(prefix)?.[0];
  const rest =
    version !== undefined && path.startsWith(`${version}/`) ? path.slice(version.length) : path;
  const query = search === '' || !rest.includes('?') ? search : `&${search.slice(1)}`;
  return `${prefix}${rest === '' ? '/' : rest}${query}`;
}
