import { BlockList, isIPv4, isIPv6 } from 'node:net';
import {
  canonicalHeaders,
  type HeaderPrefixes,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import type { Application, RequestHandler } from 'express';
import { newId } from '../database/ids.ts';

/** Header that names the request, in both directions. */
export const requestIdHeader = 'x-service-request-id';

/**
 * Reads our own headers under every prefix that is set, and gives every request
 * an id and sends it back. An id (and an X-Forwarded-For)
 * that comes from loopback or a trusted proxy, such as the gateway that
 * forwarded the request, is kept; from anyone else it is not believed.
 */
export function requestContext(
  app: Application,
  trustedProxies: readonly string[],
  prefixes: HeaderPrefixes,
): RequestHandler {
  const trusted = trustedAddresses(trustedProxies);
  app.set('trust proxy', (address: string) => trusted(address));
  return (req, res, next) => {
    const spelling = spellingOf(prefixes, req.headers);
    req.headers = canonicalHeaders(prefixes, req.headers);
    const sent = req.headers[requestIdHeader];
    const believed =
      typeof sent === 'string' &&
      /^[A-Za-z0-9_.-]{8,128}$/.test(sent) &&
      trusted(req.socket.remoteAddress ?? '');
    const id = believed ? sent : newId();
    res.locals.requestId = id;
    const headers = spelledHeaders(prefixes, spelling, { [requestIdHeader]: id });
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    next();
  };
}

export function trustedAddresses(proxies: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIPv6(address) ? 'ipv6' : isIPv4(address) ? 'ipv4' : undefined;
    if (family === undefined)
      throw new Error(`TRUSTED_PROXIES: ${proxy} is neither an address nor a range`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    // A dual-stack socket shows IPv4 addresses as ::ffff:a.b.c.d.
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIPv4(plain) ? list.check(plain, 'ipv4') : isIPv6(plain) && list.check(plain, 'ipv6');
  };
}
