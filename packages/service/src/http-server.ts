import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerTls } from '@sluice/rpc';

/**
 * An idle connection is kept longer than those who come keep it themselves (load balancers a minute, a gateway at the
 * control plane half of one): what closes first just as the other sends on it loses a request, which nobody may send again.
 */
const keepAliveMs = 75_000;

/**
 * Where callers come, by HTTPS where there is a certificate. They need none
 * themselves: who they are is told by their keys, and probes have none to show.
 */
export function createHttpServer(
  own: ServerOptions,
  certificate: Omit<ServerTls, 'clientCa'> | undefined,
  app: RequestListener,
): Server {
  const options = { keepAliveTimeout: keepAliveMs, ...own };
  if (certificate === undefined) return createServer(options, app);
  const { cert, key, renewals } = certificate;
  const server = createTlsServer({ ...options, cert, key }, app);
  renewals?.((next) => server.setSecureContext({ cert: next.cert, key: next.key }));
  // It has all that a server of HTTP has; only the types differ.
  return server as unknown as Server;
}
