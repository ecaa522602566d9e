import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port that was free a moment ago. It lies below the range from which kernels
 * take the ports of outgoing connections, which could take it in the meantime.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(firstPort, lastPort);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No port between ${firstPort} and ${lastPort} is free.`);
}

const firstPort = 10_240;
const lastPort = 32_000;

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
