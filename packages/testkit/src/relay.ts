import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands before a server, for tests that take it away from one who asks and leave it to the others. */
export interface Relay {
  readonly port: number;
  /** Connections break, and new ones are refused. */
  down(): Promise<void>;
  /** Connections stay, new ones are accepted, and nothing passes: as of a server that hangs. */
  hang(): void;
  /** After either, or neither. What came while it hung passes now. */
  up(): Promise<void>;
}

/** @param target  the port it leads to, on this machine */
export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  /** Of each connection, either way. */
  const ways = new Map<Socket, Socket>();
  let hangs = false;
  let server: Server | undefined;
  let port = 0;
  const lead = (from: Socket, to: Socket) => {
    sockets.add(from);
    ways.set(from, to);
    from.on('error', () => {});
    if (!hangs) from.pipe(to);
    from.once('close', () => {
      sockets.delete(from);
      ways.delete(from);
      to.destroy();
    });
  };
  const up = async () => {
    if (hangs) {
      hangs = false;
      for (const [from, to] of ways) from.pipe(to);
      return;
    }
    if (server?.listening === true) return;
    server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      lead(near, far);
      lead(far, near);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  const down = async () => {
    hangs = false;
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
    hang() {
      hangs = true;
      for (const [from, to] of ways) from.unpipe(to);
    },
    up,
  };
}
