import { type AddressAuthor, checkUpstreamUrl, type HostRules } from '@sluice/outbound';
import {
  baseUrlOf,
  type CallFacts,
  type EndpointEntry,
  type ProviderEntry,
  type Translation,
} from '@sluice/providers';
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

/** Of `/a/b` where `/b` begins. */
function nextSlash(root: string): number {
  const at = root.indexOf('/', 1);
  return at === -1 ? root.length : at;
}

/** A path without those parameters of its query that the caller's has. */
export function withoutSaid(path: string, search: string): string {
  const at = path.indexOf('?');
  if (at === -1 || search === '') return path;
  const told = new URLSearchParams(search);
  const kept = path
    .slice(at + 1)
    .split('&')
    .filter((parameter) => !told.has(parameter.split('=', 1)[0] ?? ''));
  return kept.length === 0 ? path.slice(0, at) : `${path.slice(0, at)}?${kept.join('&')}`;
}

/**
 * Where a unified endpoint is called, with its query. The caller's belongs to who has the caller's own endpoint: who speaks another
 * format knows none of its parameters. Lists are asked for by a query, whoever has them, and sessions write theirs themselves.
 * @param path  the endpoint's own
 */
export function unifiedPath(
  base: URL,
  path: string,
  { takesNoQuery }: ProviderEntry,
  { mode, entry }: Pick<Translation, 'mode' | 'entry'>,
  { method, search }: { method: string; search: string },
): string {
  if (search === '' || method === 'GET') return joinPaths(base, path, searchOf(entry, search));
  const passed = mode === 'native' && takesNoQuery !== true ? search : '';
  return joinPaths(base, withoutSaid(path, passed), searchOf(entry, passed));
}

/** The caller's query, and what the endpoint is asked for where that does not say it. */
function searchOf({ query }: EndpointEntry, search: string): string {
  if (query === undefined) return search;
  const told = new URLSearchParams(search);
  const own = Object.entries(query).filter(([name]) => !told.has(name));
  if (own.length === 0) return search;
  const added = new URLSearchParams(own).toString();
  return search === '' ? `?${added}` : `${search}&${added}`;
}

/** A path that passes through, with the version of the provider where nobody said one. */
export function versionedPath(base: URL, path: string, { passingVersion }: ProviderEntry): string {
  const isSaid =
    /^\/(?:upload\/)?v\d[a-z0-9]*(?:\/|$)/.test(path) ||
    /\/v\d[a-z0-9]*$/.test(withoutTrailingSlashes(base.pathname));
  return passingVersion === undefined || isSaid ? path : `/${passingVersion}${path}`;
}

/** A root that ends the base and begins the path is one and the same: a version, `/openai`, both. */
export function joinPaths(base: URL, path: string, search: string): string {
  const prefix = withoutTrailingSlashes(base.pathname);
  const roots = /(?:\/(?:openai|api|v[0-9][a-z0-9]*))+$/.exec(prefix)?.[0] ?? '';
  let root = roots;
  while (root !== '' && !path.startsWith(`${root}/`)) root = root.slice(nextSlash(root));
  const rest = path.slice(root.length);
  const query = search === '' || !rest.includes('?') ? search : `&${search.slice(1)}`;
  return `${prefix}${rest === '' ? '/' : rest}${query}`;
}
