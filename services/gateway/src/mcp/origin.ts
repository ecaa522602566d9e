import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Arrival, isLoopback, type PublicAddresses, toolBaseUrl } from '@sluice/contracts';

/** Where clients reach us, and from which pages they may. */
export interface OriginSettings {
  readonly addresses: PublicAddresses;
  /** Origins of pages in browsers, beside that of the base; on this machine its own pages as well. */
  readonly allowed: ReadonlySet<string>;
  readonly readArrival: (req: IncomingMessage) => Arrival;
}

/** What a request says of where it comes from and whom it takes us for. */
export interface OriginVerdict {
  /** Why it is refused; undefined = it is not. */
  readonly refused: string | undefined;
  /** Of the page that asks, where it may read the answer. */
  readonly page: string | undefined;
  /** `{base}` of this request; undefined where it is not known and nobody may say it. */
  readonly base: string | undefined;
}

/** Of connections, by the host that was asked for on them last: clients ask many times on one. */
const known = new WeakMap<Socket, { readonly host: string; readonly verdict: OriginVerdict }>();

/** What `judge` says. Programs name no origin, and on one connection it is the same each time. */
export function judgeOrigin(req: IncomingMessage, settings: OriginSettings): OriginVerdict {
  const { headers, socket } = req;
  const { host = '' } = headers;
  const isPlain =
    headers.origin === undefined &&
    headers['x-forwarded-for'] === undefined &&
    headers['x-forwarded-host'] === undefined &&
    headers['x-forwarded-proto'] === undefined;
  if (!isPlain) return judge(req, settings);
  const last = known.get(socket);
  if (last?.host === host) return last.verdict;
  const verdict = judge(req, settings);
  known.set(socket, { host, verdict });
  return verdict;
}

/**
 * A page in a browser must not reach a gateway on the reader's own machine by a
 * name that was made to resolve to it, and no page but those allowed may ask at all.
 */
function judge(req: IncomingMessage, settings: OriginSettings): OriginVerdict {
  const { addresses, allowed, readArrival } = settings;
  const arrival = readArrival(req);
  const { socket, headers } = req;
  // Through a proxy that is trusted to say who asked, the name is the proxy's.
  const isDirect = arrival.address === plain(socket.remoteAddress);
  const isLocal = isDirect && isLoopbackAddress(plain(socket.localAddress));
  const { host = '' } = headers;
  const base = toolBaseUrl(addresses, isLocal ? arrival : undefined);
  const ours = base === '' ? undefined : base;
  if (isLocal && !isLoopback(host) && host !== hostOf(ours))
    return { refused: 'This host is not known here.', page: undefined, base: ours };
  const { origin } = headers;
  if (origin === undefined) return { refused: undefined, page: undefined, base: ours };
  const isAllowed =
    allowed.has(origin) ||
    (ours !== undefined && origin === new URL(ours).origin) ||
    (isLocal && isLoopbackOrigin(origin));
  return isAllowed
    ? { refused: undefined, page: origin, base: ours }
    : { refused: 'Pages of this origin may not ask here.', page: undefined, base: ours };
}

function hostOf(base: string | undefined): string | undefined {
  return base === undefined ? undefined : new URL(base).host;
}

function plain(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}

function isLoopbackOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/([^/]+)$/.exec(origin) ?? [];
  return host !== undefined && isLoopback(host);
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Names that pages may send; those of parameters and of ours are echoed where they are asked for. */
const sendable = new Set([
  'authorization',
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-session-id',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'traceparent',
  'tracestate',
]);
const headerName = /^[a-z0-9-]{1,128}$/;
const readable = 'mcp-session-id, www-authenticate, x-service-trace-id, x-service-request-id';

/** What a page's browser is told with every answer. */
export function pageHeaders(page: string | undefined): Record<string, string> {
  if (page === undefined) return { vary: 'origin' };
  return {
    vary: 'origin',
    'access-control-allow-origin': page,
    'access-control-expose-headers': readable,
  };
}

/**
 * What it is told when it asks beforehand. Names are listed one by one: a `*`
 * means nothing to browsers where there are credentials.
 * @param isOurs whether a header has one of our prefixes
 */
export function preflightHeaders(
  page: string,
  asked: string | string[] | undefined,
  isOurs: (name: string) => boolean,
): Record<string, string> {
  const names = String(asked ?? '')
    .slice(0, 4096)
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => headerName.test(name) && (name.startsWith('mcp-param-') || isOurs(name)));
  return {
    ...pageHeaders(page),
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': [...new Set([...sendable, ...names])].join(', '),
    'access-control-max-age': '600',
  };
}
