import { isLoopback, type PublicAddresses, readMcpPath, toolBaseUrl } from '@sluice/contracts';
import type { ModelExchange } from '../exchange/exchange.ts';

/** Which server a request means, and whether it is for us to call it. */
export interface MeantServer {
  readonly server: string;
  readonly workspace?: string | undefined;
}

/** What a tool or a server of a request says of where it is. */
export interface SaidOfServer {
  /** `server_label`, or the name. */
  readonly name: string | undefined;
  readonly url: string | undefined;
  /** A token or headers for the server, which the caller has for it. */
  readonly credential: string | undefined;
  readonly hasHeaders: boolean;
  /** Something else says where it is, which only the vendor knows: a connector, a tunnel. */
  readonly isVendors: boolean;
}

/** With the flag, whatever else is said of a server of this name is passed over. */
export const flag = 'server-side-mcp-2026-06-01';
export const mark = '@service-mcp/';

/**
 * Whether the gateway runs the tools of a server; undefined = the vendor is told of it as it is. By name, where nothing
 * says where it is; by its address here, where the caller shows it nothing but the key of this request. An address that is
 * not ours is never called from here, whatever stands beside it.
 */
export function meantServer(
  said: SaidOfServer,
  exchange: ModelExchange,
  addresses: PublicAddresses,
): MeantServer | undefined {
  const { name = '', url, credential, hasHeaders, isVendors } = said;
  const { betas, serviceKey } = exchange.arrival.caller;
  const isFlagged = betas?.includes(flag) === true;
  if (name.startsWith(mark)) return { server: name.slice(mark.length) };
  if (isVendors) return undefined;
  if (url === undefined || url === '') return { server: name };
  const here = serverAt(url, exchange, addresses);
  if (here === undefined) return undefined;
  const isOwnKey = credential === undefined || credential === serviceKey;
  return isFlagged || (isOwnKey && !hasHeaders) ? here : undefined;
}

/** Said in a way that no vendor knows: what such a caller leaves out is as the flag has it. */
export function isOwnWay({ name }: SaidOfServer, { arrival }: ModelExchange): boolean {
  return name?.startsWith(mark) === true || arrival.caller.betas?.includes(flag) === true;
}

function serverAt(
  url: string,
  exchange: ModelExchange,
  addresses: PublicAddresses,
): MeantServer | undefined {
  const base = toolBaseUrl(addresses, local(exchange));
  if (base === '' || !URL.canParse(url)) return undefined;
  const { origin, pathname, search, username, password } = new URL(url);
  if (search !== '' || username !== '' || password !== '') return undefined;
  const at = `${origin}${pathname}`;
  return at.startsWith(`${base}/`) ? readMcpPath(at.slice(base.length)) : undefined;
}

/** As the gateway is called on this machine, where nobody says its address. */
function local({ arrival }: ModelExchange): { host: string; proto: 'http' } | undefined {
  const { host } = arrival.headers;
  return host !== undefined && isLoopback(host) && isLoopback(arrival.callerAddress())
    ? { host, proto: 'http' }
    : undefined;
}
