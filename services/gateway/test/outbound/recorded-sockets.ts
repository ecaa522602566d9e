/**
 * Preloaded into a gateway (`NODE_OPTIONS=--import=…`). Stands in place of the
 * socket's connect: beyond Sluice's own parts and the test's upstreams nothing
 * is opened, and what would have been opened is written down.
 */
import { appendFileSync } from 'node:fs';

const refused = -111;
const loopback = new Set(['127.0.0.1', '::1']);
const ownPorts = new Set<string>();
for (const name of ['CONTROL_PLANE_GRPC_URL', 'CONTROL_PLANE_URL', 'DATA_SERVICE_GRPC_URL'])
  ownPorts.add(/:(\d+)\/?$/.exec(process.env[name] ?? '')?.[1] ?? '');
for (const port of process.env.TEST_OPEN_PORTS?.split(',') ?? []) ownPorts.add(port);

type Connect = (this: unknown, request: object, address: string, port: number) => number;

/** The handle below every TCP socket: what it is told is what the kernel would be told. */
const { TCP } = (
  process as unknown as {
    binding(name: string): { TCP: { prototype: Record<'connect' | 'connect6', Connect> } };
  }
).binding('tcp_wrap');
for (const method of ['connect', 'connect6'] as const) {
  const connect = TCP.prototype[method];
  TCP.prototype[method] = function (request, address, port) {
    if (loopback.has(address) && ownPorts.has(String(port)))
      return connect.call(this, request, address, port);
    appendFileSync(process.env.TEST_CONNECTIONS_FILE as string, `${address} ${port}\n`);
    return refused;
  };
}
