import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { usage } from '@sluice/proto-stubs';
import { afterEach, expect, it } from 'vitest';
import { createRpcClient } from './client.ts';
import { serveRpc } from './server.ts';

const firstBytesMs = 500;
const token = 'a-token-of-the-services';
const { writeUsage } = usage.UsageService.method;
const certificate = (name: string) =>
  readFileSync(new URL(`../../testkit/certificates/${name}.pem`, import.meta.url));
const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Takes the first connection and says nothing over it; the others lead to the service. */
function front(port: number, isTls: boolean): { server: Server; connections: () => number } {
  let connections = 0;
  const take = (near: Socket) => {
    toClose.push(() => near.destroy());
    near.on('error', () => {});
    connections += 1;
    if (connections === 1) return void near.resume();
    const far = connect(port, '127.0.0.1');
    far.on('error', () => {});
    near.pipe(far).pipe(near);
  };
  const tls = {
    key: certificate('server-key'),
    cert: certificate('server'),
    ALPNProtocols: ['h2'],
  };
  const server = isTls ? createTlsServer(tls, take) : createServer(take);
  toClose.push(() => server.close());
  return { server, connections: () => connections };
}

it.each([
  ['is plain', undefined, false],
  ['is TLS, and says nothing in it', 'of the service', true],
  ['was to be TLS', 'of nobody', false],
])('a connection that nothing comes over is made anew: one that %s', async (_what, tls, isTls) => {
  const service = await serveRpc({ host: '127.0.0.1', port: 0, token });
  service.add(usage.UsageService, {
    writeUsage: async () => ({}),
    async *listCharges() {},
  });
  toClose.push(() => service.close(0));
  const { server, connections } = front(service.port, isTls);
  const client = createRpcClient(usage.UsageService, {
    address: `127.0.0.1:${await listening(server)}`,
    token,
    firstBytesMs,
    ...(tls !== undefined && { tls: { ca: certificate('authority') } }),
  });
  toClose.push(() => client.close());
  const ask = () => client.unary(writeUsage, { records: [] }, { timeoutMs: 60_000 });
  if (tls === 'of nobody') {
    // There is no TLS behind it either: that it is tried again is all that there is to see.
    ask().catch(() => {});
    await expect.poll(connections, { timeout: 60_000 }).toBeGreaterThan(1);
    return;
  }
  await ask();
  const made = connections();
  expect(made).toBeGreaterThan(1);
  // One that was answered stays, however little comes over it.
  await delay(1.5 * firstBytesMs);
  await ask();
  expect(connections()).toBe(made);
});
