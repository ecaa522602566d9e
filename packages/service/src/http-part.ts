import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Part } from './part.ts';

export interface HttpPartOptions {
  server: Server;
  host: string;
  port: number;
  /** What says the port, for messages; PORT where nothing is said. */
  setting?: string;
  /** In the ready line; `port` where nothing is said. */
  shownAs?: 'port' | 'mcp_port';
  /** Ends the requests that are left at the drain's deadline, each with an answer; without it they are cut. */
  cut?: () => void;
}

/** Connections that may wait to be taken; of 511, Node's own, a burst of thousands had to try again after a second. The kernel has a bound as well. */
const backlog = 4096;

/** A connection that becomes idle after the server has closed is found so soon. */
const idleEveryMs = 100;

/** What callers have for their last bytes; `stopParts` waits a little longer. */
const lastBytesMs = 150;

/** Listens for callers. Draining lets their requests end, and cuts those that do not in time. */
export function httpPart({
  server,
  host,
  port,
  setting = 'PORT',
  shownAs = 'port',
  cut,
}: HttpPartOptions): Part {
  return {
    name: 'http',
    start: () =>
      new Promise((resolve, reject) => {
        const refuse = (cause: Error) =>
          reject(new Error(`${setting} ${port} cannot be used: ${cause.message}`, { cause }));
        server.once('error', refuse);
        server.listen({ port, host, backlog }, () => {
          server.off('error', refuse);
          resolve();
        });
      }),
    async drain(deadlineMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const idle = setInterval(() => server.closeIdleConnections(), idleEveryMs);
      const close = () => server.closeAllConnections();
      let late = setTimeout(() => {
        cut?.();
        late = setTimeout(close, cut === undefined ? 0 : lastBytesMs);
      }, deadlineMs);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
    stop: () => server.closeAllConnections(),
    ports: () => ({ [shownAs]: (server.address() as AddressInfo | null)?.port }),
  };
}
