import { createServer } from 'node:net';

/** A port that was free a moment ago, from the range the kernel hands out. */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Whether the port can be bound on the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : port),
      );
    });
  });
}
