import { readFileSync } from 'node:fs';
import { create } from '@bufbuild/protobuf';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
} from '@grpc/grpc-js';
import { usage } from '@sluice/proto-stubs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRpcClient, type RpcClient } from './client.ts';
import {
  mismatch,
  type Peer,
  protocol,
  release,
  type ServiceRole,
  storeMismatch,
} from './compatibility.ts';
import { serviceDefinition, tokenKey } from './definition.ts';
import { type Partner, peerKeys } from './handshake.ts';
import { serveRpc } from './server.ts';

const token = 'a-token-of-the-services';
const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

const peer = (role: ServiceRole, protocol: number): Peer => ({
  role,
  release: `0.${protocol}.0`,
  protocol,
});

describe('releases work with each other', () => {
  it.each<[ServiceRole, number, ServiceRole, boolean]>([
    ['gateway', 0, 'control-plane', true],
    ['gateway', -1, 'control-plane', true],
    ['gateway', -2, 'control-plane', false],
    ['gateway', 1, 'control-plane', true],
    ['gateway', 2, 'control-plane', false],
    ['gateway', 0, 'data-service', true],
    ['gateway', -1, 'data-service', true],
    ['gateway', -2, 'data-service', false],
    // Entries of kinds that it does not know would be its rejects.
    ['gateway', 1, 'data-service', false],
    ['control-plane', 1, 'data-service', true],
    ['control-plane', -1, 'data-service', true],
    ['control-plane', 2, 'data-service', false],
    ['control-plane', -2, 'data-service', false],
  ])('%s %i ahead of the %s: %s', (asks, ahead, answers, works) => {
    const found = mismatch(peer(asks, 5 + ahead), peer(answers, 5));
    expect(found === undefined).toBe(works);
  });

  it('and where not, both are named, and what is to be upgraded, and in which order', () => {
    expect(mismatch(peer('gateway', 3), peer('data-service', 2))).toBe(
      'the data service (release 0.2.0, protocol 2) is too old for the gateway (release 0.3.0, protocol 3): upgrade the data service first. The order of an upgrade is: npm run migrate, control plane, data service, gateway; a roll-back goes the other way round and leaves the stores as they are.',
    );
    expect(
      mismatch(peer('gateway', 3), { role: 'control-plane', release: '', protocol: 1 }),
    ).toContain(
      'the control plane (a release of before the handshake, protocol 1) is too old for the gateway (release 0.3.0',
    );
    expect(
      storeMismatch('the database', { release: '9.9.9', protocol: protocol + 1 }),
    ).toBeUndefined();
    expect(storeMismatch('the database', { release: '9.9.9', protocol: protocol + 2 })).toContain(
      '9.9.9',
    );
  });

  it('under one name, that of all packages', () => {
    const root = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    );
    expect(release).toBe(root.version);
  });
});

const writeUsage = usage.UsageService.method.writeUsage;

/** A data service of this release; `seen` counts what reached it. */
async function dataService(port = 0) {
  const seen = { calls: 0 };
  const server = await serveRpc({ host: '127.0.0.1', port, token, role: 'data-service' });
  server.add(usage.UsageService, {
    async writeUsage() {
      seen.calls += 1;
      return {};
    },
    async *listCharges() {},
  });
  toClose.push(() => server.close(0));
  return { server, seen };
}

/** One that answers as another release does: with its metadata, or none and no greeting, as that of before. */
async function otherRelease(port: number, said?: { protocol: number }) {
  const seen = { calls: 0 };
  const server = new Server();
  const reply = (call: { sendMetadata(metadata: Metadata): void }) => {
    const metadata = new Metadata();
    if (said !== undefined) {
      metadata.set(peerKeys.protocol, String(said.protocol));
      metadata.set(peerKeys.release, '7.7.7');
    }
    call.sendMetadata(metadata);
  };
  server.addService(serviceDefinition(usage.UsageService, undefined), {
    writeUsage: (
      call: ServerUnaryCall<object, object>,
      answer: (error: null, value: object) => void,
    ) => {
      seen.calls += 1;
      reply(call);
      answer(null, create(writeUsage.output));
    },
    listCharges: () => {},
  });
  if (said !== undefined) {
    const { greetMethod } = await import('./handshake.ts');
    server.addService(
      { greet: greetMethod },
      {
        greet: (
          call: ServerUnaryCall<Buffer, Buffer>,
          answer: (error: null, bytes: Buffer) => void,
        ) => {
          reply(call);
          answer(null, Buffer.alloc(0));
        },
      },
    );
  }
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  toClose.push(() => server.forceShutdown());
  return { port: bound, seen, stop: () => server.forceShutdown() };
}

function gateway(port: number, onPartner?: (partner: Partner) => void): RpcClient {
  const client = createRpcClient(usage.UsageService, {
    address: `127.0.0.1:${port}`,
    token,
    handshake: { role: 'gateway', partner: 'data-service', onPartner },
  });
  toClose.push(() => client.close());
  return client;
}

const write = (client: RpcClient, timeoutMs = 5_000) =>
  client.unary(writeUsage, { records: [] }, { timeoutMs });

describe('a gateway', () => {
  it('greets once a connection, and makes its calls', async () => {
    const { server, seen } = await dataService();
    const told = vi.fn();
    const client = gateway(server.port, told);
    await Promise.all([write(client), write(client)]);
    await write(client);
    expect(seen.calls).toBe(3);
    expect(told.mock.calls).toEqual([
      [{ peer: { role: 'data-service', release, protocol }, refusal: undefined }],
    ]);
  });

  it('sends nothing to a data service of before the handshake, and all once that is upgraded', async () => {
    const before = await otherRelease(0);
    const told: Partner[] = [];
    const client = gateway(before.port, (partner) => told.push(partner));
    for (const _ of [1, 2])
      await expect(write(client)).rejects.toMatchObject({
        code: status.FAILED_PRECONDITION,
        details: expect.stringContaining('upgrade the data service first'),
      });
    expect(before.seen.calls).toBe(0);
    expect(told).toMatchObject([{ peer: { protocol: 1 } }]);
    before.stop();
    const { seen } = await dataService(before.port);
    await expect
      .poll(() =>
        write(client).then(
          () => seen.calls,
          () => 0,
        ),
      )
      .toBeGreaterThan(0);
    expect(told.at(-1)).toMatchObject({ refusal: undefined });
  });

  it.each([
    [protocol + 1, true],
    [protocol + 2, false],
  ])('asks a data service that is newer: of protocol %i %s', async (said, works) => {
    const { port, seen } = await otherRelease(0, { protocol: said });
    const written = write(gateway(port)).then(
      () => 'written',
      (error: { details: string }) => error.details,
    );
    if (works) expect(await written).toBe('written');
    else expect(await written).toContain('upgrade the gateway first');
    expect(seen.calls).toBe(works ? 1 : 0);
  });

  it('waits for one that is away for as long as the call may, and ends when it is told to', async () => {
    const away = gateway(9);
    await expect(write(away, 300)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    const stopping = new AbortController();
    const cancelled = away.unary(writeUsage, {}, { timeoutMs: 20_000, signal: stopping.signal });
    setTimeout(() => stopping.abort(), 50);
    await expect(cancelled).rejects.toMatchObject({ code: status.CANCELLED });
    const stream = away.serverStream(usage.UsageService.method.listCharges, {});
    const ended = new Promise((resolve) => stream.once('error', resolve));
    stream.cancel();
    expect(await ended).toMatchObject({ code: status.CANCELLED });
  });
});

describe('a data service', () => {
  const call = (port: number, said: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
      const metadata = new Metadata();
      for (const [name, value] of Object.entries({ [tokenKey]: token, ...said }))
        metadata.set(name, value);
      const definition = serviceDefinition(usage.UsageService, undefined).writeUsage;
      if (definition === undefined) throw new Error('no method');
      client.makeUnaryRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        create(writeUsage.input) as object,
        metadata,
        (error) => {
          client.close();
          resolve(error?.details ?? 'answered');
        },
      );
    });

  it('answers the release before, and operators, and refuses who is later, whatever they looked at', async () => {
    const { server, seen } = await dataService();
    expect(await call(server.port, {})).toBe('answered');
    const of = (protocol: number) => ({
      [peerKeys.role]: 'gateway',
      [peerKeys.protocol]: String(protocol),
      [peerKeys.release]: '7.7.7',
    });
    expect(await call(server.port, of(protocol + 1))).toContain('upgrade the data service first');
    expect(await call(server.port, { [peerKeys.protocol]: '99' })).toBe('answered');
    expect(await call(server.port, { ...of(1), [peerKeys.protocol]: 'x' })).toBe('answered');
    expect(seen.calls).toBe(3);
    expect(await call(server.port, { [tokenKey]: 'another', ...of(99) })).toContain('token');
  });
});
