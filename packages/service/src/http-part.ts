import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Part } from './part.ts';

export interface HttpPartOptions {
  server: Server;
  host: string;
  port: number;
}

/** A connection that becomes idle after the server has closed is found so soon. */
const idleEveryMs = 100;

/** Listens for callers. Draining lets their requests end, and cuts those that do not in time. */
export function httpPart({ server, host, port }: HttpPartOptions): Part {
  return {
    name: 'http',
    start: () =>
      new Promise((resolve, reject) => {
        const refuse = (cause: Error) =>
          reject(new Error(`PORT ${port} cannot be used: ${cause.message}`, { cause }));
        server.once('error', refuse);
        server.listen(port, host, () => {
          server.off('error', refuse);
          resolve();
        });
      }),
    async drain(deadlineMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const idle = setInterval(() => server.closeIdleConnections(), idleEveryMs);
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
    stop: () => server.closeAllConnections(),
    ports: () => ({ port: (server.address() as AddressInfo | null)?.port }),
  };
}
