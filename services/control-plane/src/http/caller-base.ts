import type { Request } from 'express';

/**
 * The address under which the caller reached us. Behind a proxy that is
 * trusted (as the gateway that forwards is) it is the one the proxy was
 * reached by; else what stands in Host.
 */
export function callerBase(req: Request): string {
  const host = req.host;
  // Whatever is no host must not become part of a link.
  const believed = /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i.test(host ?? '');
  return `${req.protocol === 'https' ? 'https' : 'http'}://${believed ? host : localAddress(req)}`;
}

function localAddress(req: Request): string {
  const { localAddress: address = '127.0.0.1', localPort } = req.socket;
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}
