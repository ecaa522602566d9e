/**
 * Path and query as asked for. The absolute form (`GET http://host/v1/… HTTP/1.1`),
 * which clients send to what they take for a proxy, means the same as the plain one.
 */
export function requestTarget(url: string): string {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** A query without what holds the service key: clients that send a key in their query put ours there, too. */
export function searchWithout(serviceKey: string | undefined, search: string): string {
  if (serviceKey === undefined || !search.includes(serviceKey)) return search;
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => !parameter.includes(serviceKey));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/**
 * Whether a path has a `.` or `..` segment, plain or escaped. Passed on, it
 * would be resolved by the upstream and leave the base path that was configured.
 */
export function hasDotSegment(path: string): boolean {
  return /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=$|[/\\;]|%2f|%5c|%3b)/i.test(path);
}

/**
 * Whether a server behind us might read a path as another one than we do: dot
 * segments, empty ones, backslashes, parameters of segments, characters that are
 * cut off or decoded a second time. An escaped slash is one of them, save where
 * a name may hold slashes.
 */
export function isAmbiguousPath(path: string, allows: { escapedSlashes: boolean }): boolean {
  if (hasDotSegment(path) || /\/\/|[\\;]|[^\x21-\x7e]/.test(path)) return true;
  if (/%(?:00|0a|0d|5c|3b|25(?:2e|2f|5c))/i.test(path)) return true;
  return !allows.escapedSlashes && /%2f/i.test(path);
}

/** Without trailing slashes. By hand: a pattern would take quadratic time on a long run of them. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '/') end--;
  return end === url.length ? url : url.slice(0, end);
}
