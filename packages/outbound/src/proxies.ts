import { BlockList, isIP } from 'node:net';

/** A proxy that opens connections for us, as the operator wrote it down. */
export interface OutboundProxy {
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Value of `proxy-authorization`; a secret. */
  readonly authorization: string | undefined;
}

export interface Proxies {
  /** The proxy to this host; undefined = it is connected to directly. Names in lower case, addresses without brackets. */
  find(protocol: string, hostname: string, port: number): OutboundProxy | undefined;
}

export interface ProxySettings {
  httpsProxy: string | undefined;
  httpProxy: string | undefined;
  noProxy: string | undefined;
}

/**
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as common tools read them. Nothing
 * is left out that the operator did not name: not loopback, not trusted hosts.
 * @throws Error when an address is no proxy's; without the address, which may hold a password
 */
export function readProxies(settings: ProxySettings): Proxies | undefined {
  const https = settings.httpsProxy === undefined ? undefined : readProxy(settings.httpsProxy);
  const http = settings.httpProxy === undefined ? undefined : readProxy(settings.httpProxy);
  if (https === undefined && http === undefined) return undefined;
  const isExcepted = readNoProxy(settings.noProxy ?? '');
  return {
    find(protocol, hostname, port) {
      const proxy = protocol === 'https:' ? https : http;
      return proxy === undefined || isExcepted(hostname, port) ? undefined : proxy;
    },
  };
}

/** @throws Error without the address, which may hold a password */
export function readProxy(raw: string): OutboundProxy {
  // `proxy.corp:3128` is what many write.
  const text = raw.includes('://') ? raw : `http://${raw}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error('must be the http:// or https:// address of a proxy');
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const secure = url.protocol === 'https:';
  return {
    secure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (secure ? 443 : 80),
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  };
}

type Matches = (hostname: string, port: number) => boolean;

/** Entries parted by commas or spaces: `*`, names with all below them, addresses, ranges; each may have a port. */
function readNoProxy(list: string): Matches {
  const rules = list
    .toLowerCase()
    .split(/[\s,]+/)
    .flatMap(readEntry);
  return (hostname, port) => rules.some((matches) => matches(hostname, port));
}

function readEntry(entry: string): Matches[] {
  if (entry === '') return [];
  if (entry === '*') return [() => true];
  const range = /^\[?([0-9a-f:.]+?)\]?\/(\d{1,3})$/.exec(entry);
  if (range !== null) return readRange(range[1] ?? '', Number(range[2]));
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(entry);
  const host = parts?.[1] ?? parts?.[2] ?? entry;
  const entryPort = parts?.[3] === undefined ? undefined : Number(parts[3]);
  const hasPort = (port: number) => entryPort === undefined || entryPort === port;
  if (isIP(host) !== 0) {
    const [isSame] = readRange(host, isIP(host) === 4 ? 32 : 128);
    return [(hostname, port) => hasPort(port) && isSame?.(hostname, port) === true];
  }
  const name = host.replace(/^\*?\./, '');
  return [
    (hostname, port) => hasPort(port) && (hostname === name || hostname.endsWith(`.${name}`)),
  ];
}

/** Names are not resolved for this: a range holds addresses that are written as such. */
function readRange(address: string, bits: number): Matches[] {
  const family = isIP(address);
  if (family === 0 || bits > (family === 4 ? 32 : 128)) return [];
  const range = new BlockList();
  range.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  return [
    (hostname) =>
      isIP(hostname) === family && range.check(hostname, family === 4 ? 'ipv4' : 'ipv6'),
  ];
}
