import type { ReplyHeaders } from '../exchange/reply.ts';
import { isOurs } from '../http/caller-headers.ts';
import { connectionTokens, hopByHop } from '../http/connection-headers.ts';

/** What of the upstream's head reaches the caller. `keepsBytes` when the body is passed on as it came. */
export function replyHeaders(upstream: UpstreamHeaders, keepsBytes: boolean): ReplyHeaders {
  const headers: ReplyHeaders = {};
  const named = connectionTokens(upstream.connection);
  for (const name in upstream) {
    const value = upstream[name];
    if (value === undefined || hopByHop.has(name) || isOurs(name)) continue;
    if (isAboutOrigin(name) || named?.has(name)) continue;
    if (!keepsBytes && (name === 'content-encoding' || name === 'content-type')) continue;
    headers[name] = value;
  }
  return headers;
}

/** The same of an answer whose body is written here, as JSON. */
export function rewrittenHeaders(upstream: UpstreamHeaders): ReplyHeaders {
  const headers = replyHeaders(upstream, false);
  // Whoever followed it would take the caller's key to wherever it points.
  delete headers.location;
  headers['content-type'] = 'application/json';
  return headers;
}

type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What an origin says about itself, and would be taken for said by the gateway: cookies and CORS are of the host that was asked. */
function isAboutOrigin(name: string): boolean {
  return aboutOrigin.has(name) || name.startsWith('access-control-');
}

const aboutOrigin = new Set([
  'alt-svc',
  'clear-site-data',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);
