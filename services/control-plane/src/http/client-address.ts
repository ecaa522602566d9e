import { isIP } from 'node:net';
import type { Request } from 'express';

/** A proxy may pass on what its caller wrote; what is no address is not kept as one. */
export function clientAddress(req: Request): string {
  const address = req.ip ?? '';
  return isIP(address) === 0 ? (req.socket.remoteAddress ?? '') : address;
}
