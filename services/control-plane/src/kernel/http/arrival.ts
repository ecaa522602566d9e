import type { Arrival } from '@sluice/contracts';
import type { Request } from 'express';

const arrivals = new WeakMap<Request, Arrival>();

export function noteArrival(req: Request, arrival: Arrival): void {
  arrivals.set(req, arrival);
}

/** The client's address, as far as those who passed the request on are believed. */
export function clientAddress(req: Request): string {
  return arrivals.get(req)?.address ?? '';
}

/** The address under which the caller reached us, or a gateway or proxy that is believed. */
export function callerBase(req: Request): string {
  const { proto, host } = callerArrival(req);
  return `${proto}://${host}`;
}

/** The same in its parts. */
export function callerArrival(req: Request): { proto: 'http' | 'https'; host: string } {
  const arrival = arrivals.get(req);
  return { proto: arrival?.proto ?? 'http', host: arrival?.host ?? localAddress(req) };
}

function localAddress(req: Request): string {
  const { localAddress: address = '127.0.0.1', localPort } = req.socket;
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}
