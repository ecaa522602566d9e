import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

/** PEM of a certificate and its key. */
export interface HttpCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Where callers come, by HTTPS where there is a certificate. They need none
 * themselves: who they are is told by their keys, and probes have none to show.
 */
export function createHttpServer(
  options: ServerOptions,
  certificate: HttpCertificate | undefined,
  app: RequestListener,
): Server {
  if (certificate === undefined) return createServer(options, app);
  const { cert, key } = certificate;
  // It has all that a server of HTTP has; only the types differ.
  return createTlsServer({ ...options, cert, key }, app) as unknown as Server;
}
