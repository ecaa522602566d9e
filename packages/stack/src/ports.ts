import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port that was free a moment ago. It lies below the range from which kernels
 * take the ports of outgoing connections, which could take it in the meantime.
 * Processes that look at the same time look in different places, and none is told
 * the same port twice: what was told is bound only later.
 */
export async function freePort(): Promise<number> {
  const ports = portsOfProcess(process.pid);
  for (let attempt = 0; attempt < 1000; attempt++) {
    next = (next + 1) % ports.length;
    const port = ports[next] as number;
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No port between ${ports[0]} and ${ports.at(-1)} is free.`);
}

/** Where a process looks. */
export function portsOfProcess(pid: number): readonly number[] {
  const first = firstPort + (pid % places) * portsEach;
  return Array.from({ length: portsEach }, (_, index) => first + index);
}

// Between RabbitMQ's port and Redis Sentinel's: a gateway calls no host at those, whatever stands there.
const firstPort = 15_680;
const places = 64;
const portsEach = 166;
let next = randomInt(portsEach);

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
