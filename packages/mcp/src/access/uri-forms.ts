/**
 * The forms in which servers may take a URI: as it is, as RFC 3986 makes it regular, and with all that is percent-encoded
 * decoded, twice encoded too, before its path is found or after. What denies one of them denies all, and what allows must
 * allow each: else `file:///public/%2e%2e/secret` is another file to policy than to the server. Case of paths is left alone.
 */
export function uriForms(uri: string): readonly string[] {
  const forms = [uri];
  for (const form of [regularUri(uri), regularUri(decoded(uri)), regularUri(uri, decodedPath)])
    if (!forms.includes(form)) forms.push(form);
  return forms;
}

/**
 * Scheme and host in lower case, no default port, of the web no user, no dot segments or doubled slashes, no fragment, no
 * slash at the end. Without what parsers of URLs leave out: tabs and ends of lines anywhere, spaces and control characters at either end.
 */
export function regularUri(uri: string, pathOf = (path: string) => path): string {
  const text = withSlashes(uri.replace(/[\t\n\r]/g, ''));
  const parts = /^([a-z][a-z0-9+.-]*):([^#]*)/is.exec(trimmed(text));
  if (parts === null) return text;
  const scheme = (parts[1] as string).toLowerCase();
  const rest = decodedUnreserved(parts[2] as string);
  const query = rest.indexOf('?');
  const beforeQuery = query === -1 ? rest : rest.slice(0, query);
  const behind = query === -1 ? '' : rest.slice(query);
  const regularPath = (path: string) => withoutDots(pathOf(path));
  if (!beforeQuery.startsWith('//')) return `${scheme}:${regularPath(beforeQuery)}${behind}`;
  const slash = beforeQuery.indexOf('/', 2);
  const authority = slash === -1 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash);
  const path = slash === -1 ? '' : beforeQuery.slice(slash);
  return `${scheme}://${regularHost(scheme, authority)}${regularPath(path)}${behind}`;
}

function withSlashes(text: string): string {
  return text.normalize('NFC').replaceAll('\\', '/');
}

function trimmed(text: string): string {
  const isOutside = (at: number) => text.charCodeAt(at) <= 0x20;
  let [start, end] = [0, text.length];
  while (start < end && isOutside(start)) start++;
  while (start < end && isOutside(end - 1)) end--;
  return text.slice(start, end).trim();
}

/** Of a pattern or template what stands before its first variable as regular URIs have it, and the rest as it is. */
export function regularPattern(pattern: string, variable: RegExp): string {
  const at = pattern.search(variable);
  if (at === -1) return regularUri(pattern);
  // A letter at the end keeps the last slash.
  return `${regularUri(`${pattern.slice(0, at)}x`).slice(0, -1)}${pattern.slice(at)}`;
}

const webPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** Of the web without who asks, whom no address depends on, and without the dot that ends a full name. */
function regularHost(scheme: string, authority: string): string {
  const host = authority.toLowerCase();
  if (scheme === 'file' && host === 'localhost') return '';
  const port = Object.hasOwn(webPorts, scheme) ? webPorts[scheme] : undefined;
  if (port === undefined) return host;
  const own = host.slice(host.lastIndexOf('@') + 1);
  const colon = own.lastIndexOf(':');
  const hasPort = colon !== -1 && /^\d*$/.test(own.slice(colon + 1));
  const name = hasPort ? own.slice(0, colon) : own;
  const told = hasPort ? own.slice(colon + 1).replace(/^0+/, '') : '';
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  return told === '' || told === port ? bare : `${bare}:${told}`;
}

function withoutDots(path: string): string {
  const isAbsolute = path.startsWith('/');
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `${isAbsolute ? '/' : ''}${kept.join('/')}`;
}

/** Letters, digits, - . _ ~ mean the same encoded or not (RFC 3986, 2.3). */
function decodedUnreserved(text: string): string {
  return text.replace(/%(?:2d|2e|5f|7e|3[0-9]|[46][1-9a-f]|[57][0-9a])/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

/** What would begin a query or a fragment is part of the path here, and stays encoded. */
function decodedPath(path: string): string {
  return withSlashes(decoded(path)).replace(/[?#]/g, encodeURIComponent);
}

const decodingRounds = 3;

function decoded(text: string): string {
  let now = text;
  for (let round = 0; round < decodingRounds && now.includes('%'); round++) {
    const next = now.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
      const bytes = Buffer.from(codes.replaceAll('%', ''), 'hex');
      return bytes.toString('utf8');
    });
    if (next === now) break;
    now = next;
  }
  return now;
}
