import { type Client, connectivityState, status } from '@grpc/grpc-js';
import { usage } from '@sluice/proto-stubs';
import { afterEach, describe, expect, it } from 'vitest';
import { createRpcClient, type RpcClientOptions } from './client.ts';
import { Patience } from './patience.ts';
import { serveRpc } from './server.ts';

const token = 'a-token-of-the-services';
const { writeUsage, listCharges } = usage.UsageService.method;
const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

async function dataService(port = 0) {
  const server = await serveRpc({ host: '127.0.0.1', port, token, role: 'data-service' });
  server.add(usage.UsageService, {
    writeUsage: async () => ({}),
    async *listCharges() {},
  });
  toClose.push(() => server.close(0));
  return server;
}

function clientOf(port: number, over: Partial<RpcClientOptions> = {}) {
  const client = createRpcClient(usage.UsageService, {
    address: `127.0.0.1:${port}`,
    token,
    ...over,
  });
  toClose.push(() => client.close());
  return {
    write: () => client.unary(writeUsage, {}, { timeoutMs: 20_000, failFast: true }),
    list: () =>
      new Promise<void>((resolve, reject) => {
        const stream = client.serverStream(listCharges, {}, { failFast: true });
        stream.on('data', () => {});
        stream.on('end', resolve);
        stream.on('error', reject);
      }),
  };
}

describe('a call that fails fast', () => {
  it('waits for a side that starts again: no call between the two is an error', async () => {
    const first = await dataService();
    const client = clientOf(first.port, { graceMs: 20_000 });
    await client.write();
    await first.close(0);
    const calls = [client.write(), client.list(), client.write()];
    // The first try to connect has failed, and the next one comes after a pause.
    await expect(clientOf(first.port, { graceMs: 0 }).write()).rejects.toThrow();
    await dataService(first.port);
    await Promise.all([...calls, client.write(), client.list()]);
  });

  it('is an error once the side was away for as long as it is waited for', async () => {
    const gone = await dataService();
    await gone.close(0);
    const client = clientOf(gone.port, { graceMs: 50 });
    await expect(client.write()).rejects.toMatchObject({
      code: status.UNAVAILABLE,
      message: expect.not.stringContaining('Cancelled'),
    });
    await expect(client.list()).rejects.toThrow();
  });
});

describe('the wait', () => {
  it('is one of all calls, begins when the side goes, and is forgotten where nobody asked', () => {
    let state = connectivityState.CONNECTING;
    let nowMs = 1_000;
    const client = { getChannel: () => ({ getConnectivityState: () => state }) };
    const patience = new Patience(client as unknown as Client, 3_000, () => nowMs);
    const leftAfter = (ms: number) => {
      nowMs += ms;
      return patience.leftMs();
    };
    expect([leftAfter(0), leftAfter(1_000), leftAfter(2_500), leftAfter(59_000)]).toEqual([
      3_000, 2_000, 0, 0,
    ]);
    state = connectivityState.READY;
    expect(leftAfter(1)).toBe(3_000);
    state = connectivityState.IDLE;
    expect([leftAfter(1), leftAfter(4_000), leftAfter(60_001)]).toEqual([3_000, 0, 3_000]);
  });
});
