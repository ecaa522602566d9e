import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Where a request came from, and under which address it reached us. */
export interface Arrival {
  /** The client's IP address; empty when the connection is gone. */
  readonly address: string;
  /** Host and port as the client wrote them; undefined when it wrote nothing that is a host. */
  readonly host: string | undefined;
  readonly proto: 'http' | 'https';
}

/** What a listener knows of a request before anybody is believed. */
export interface Arriving {
  /** Of the connection. */
  readonly address: string | undefined;
  readonly encrypted: boolean;
  readonly headers: IncomingHttpHeaders;
}

/** What is listed further from us than this was written by nobody's proxies. */
const hopsBytesMax = 1024;

/**
 * Reads where requests come from. What stands in `X-Forwarded-For`, `-Host` and
 * `-Proto` is believed only from the addresses and ranges listed, one hop after
 * the other: nobody is a proxy for being on this machine.
 * @throws Error when an entry is neither an address nor a range.
 */
export function arrivalReader(trustedProxies: readonly string[]): (request: Arriving) => Arrival {
  const isTrusted = addressList(trustedProxies);
  return ({ address, encrypted, headers }) => {
    const peer = plainAddress(address ?? '');
    const direct = { host: asHost(headers.host), proto: encrypted ? 'https' : 'http' } as const;
    if (!isTrusted(peer)) return { address: peer, ...direct };
    const proto = lastOf(headers['x-forwarded-proto']);
    return {
      address: clientBehind(peer, headers['x-forwarded-for'], isTrusted),
      host: asHost(lastOf(headers['x-forwarded-host'])) ?? direct.host,
      proto: proto === 'http' || proto === 'https' ? proto : direct.proto,
    };
  };
}

/** The first address from the right that is no proxy of ours; what is no address ends the chain. */
function clientBehind(
  peer: string,
  forwardedFor: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let client = peer;
  const nearest = String(forwardedFor ?? '').slice(-hopsBytesMax);
  for (const hop of nearest.split(',').reverse()) {
    const address = plainAddress(hop.trim());
    if (isIP(address) === 0) break;
    client = address;
    if (!isTrusted(address)) break;
  }
  return client;
}

function lastOf(value: string | string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value).split(',').at(-1)?.trim().toLowerCase();
}

/** Whatever is no host must not become part of a link. */
function asHost(value: string | undefined): string | undefined {
  if (value === undefined || value.length > 261) return undefined;
  return /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i.test(value) ? value : undefined;
}

/** A dual-stack socket shows IPv4 addresses as ::ffff:a.b.c.d. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function addressList(entries: readonly string[]): (address: string) => boolean {
  // Most installations list none, and each request asks.
  if (entries.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : isIPv4(address) ? 'ipv4' : undefined;
    const isOfSize =
      /^\d{0,3}$/.test(bits ?? '') && Number(bits ?? 0) <= (family === 'ipv4' ? 32 : 128);
    if (family === undefined || rest.length > 0 || !isOfSize)
      throw new Error(`has ${entry}, which is neither an address nor a range`);
    if (bits === undefined || bits === '') list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) =>
    isIPv4(address) ? list.check(address, 'ipv4') : isIPv6(address) && list.check(address, 'ipv6');
}
