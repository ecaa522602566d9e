import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

export interface MetricsListener {
  /** The port in use, also when 0 was asked for. */
  readonly port: number;
  close(): void;
}

/**
 * `GET /metrics` on a listener of its own: what it says about everybody's
 * traffic is for operators, and callers reach the other port.
 * @throws Error naming METRICS_PORT when it cannot be used.
 */
export async function serveMetrics(
  { registry, text: read }: Metrics,
  place: { host: string; port: number },
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (req, res) => {
    if (req.method !== 'GET' || req.url?.split('?', 1)[0] !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    read().then(
      (text) => res.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`METRICS_PORT ${place.port} cannot be used: ${cause.message}`, { cause })),
    );
    server.listen(place.port, place.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
