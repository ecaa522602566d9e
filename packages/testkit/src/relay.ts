import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands before a server, for tests that take it away from one who asks and leave it to the others. */
export interface Relay {
  readonly port: number;
  /** Connections break, and new ones are refused. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/** @param target  the port it leads to, on this machine */
export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const up = async () => {
    server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        keep(from);
        from.pipe(to);
        from.once('close', () => to.destroy());
      }
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const down = async () => {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await up();
  return {
    get port() {
      return port;
    },
    down,
    up,
  };
}
