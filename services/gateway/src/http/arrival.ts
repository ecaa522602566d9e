import type { IncomingMessage } from 'node:http';
import { type Arrival, arrivalReader } from '@sluice/contracts';

/** Where requests of callers come from; only the proxies listed may say that it was somebody else. */
export function createReadArrival(
  trustedProxies: readonly string[],
): (req: IncomingMessage) => Arrival {
  const read = arrivalReader(trustedProxies);
  return ({ socket, headers }) =>
    read({ address: socket.remoteAddress, encrypted: 'encrypted' in socket, headers });
}
