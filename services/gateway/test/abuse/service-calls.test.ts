import { once } from 'node:events';
import { connect } from 'node:http2';
import { get } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { usage } from '@sluice/proto-stubs';
import {
  type ClientTls,
  clientTls,
  createRpcClient,
  type ServerTls,
  serveRpc,
  serverTls,
} from '@sluice/rpc';
import {
  type CertificateName,
  startService,
  temporaryFolder,
  testCertificate,
  testCertificatePath,
} from '@sluice/testkit';
import { describe, expect, it } from 'vitest';

/** What a stranger reaches at the gRPC port, and what our own calls give away to one. */

const token = 'a-token-shared-by-the-services';
const pem = (name: CertificateName) => Buffer.from(testCertificate(name));
const tls = { cert: pem('server'), key: pem('server-key'), clientCa: pem('authority') };
const trusting = { ca: pem('authority') };

interface Serving {
  readonly port: number;
  /** Calls that were heard. */
  decoded: number;
}

async function serving(
  options: { tls?: ServerTls },
  work: (seen: Serving) => Promise<void>,
): Promise<void> {
  const server = await serveRpc({ host: '127.0.0.1', port: 0, token, ...options });
  const seen = { port: server.port, decoded: 0 };
  server.add(usage.UsageService, {
    async *listCharges() {},
    async writeUsage() {
      seen.decoded += 1;
      return {};
    },
  });
  try {
    await work(seen);
  } finally {
    await server.close(0);
  }
}

/** The status of one call; 0 = it was heard. */
async function statusOf(port: number, options: { tls?: ClientTls; token?: string } = {}) {
  const address = `localhost:${port}`;
  const client = createRpcClient(usage.UsageService, { address, token, ...options });
  try {
    await client.unary(
      usage.UsageService.method.writeUsage,
      { records: [] },
      { timeoutMs: 5000, failFast: true },
    );
    return 0;
  } catch (error) {
    return (error as { code: number }).code;
  } finally {
    client.close();
  }
}

/** A message of so many bytes, without the last of them. */
function* beginOf(messageBytes: number): Generator<Buffer> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(messageBytes, 1);
  yield head;
  const piece = Buffer.alloc(256 * 1024);
  for (let sent = piece.length; sent < messageBytes; sent += piece.length) yield piece;
}

const unauthenticated = 16;
const unavailable = 14;

describe('a call without the token', () => {
  it('is refused when its headers have come, whatever follows, and nothing of it is kept', () =>
    serving({}, async (seen) => {
      const { port } = seen;
      const session = connect(`http://127.0.0.1:${port}`);
      const messageBytes = 60 * 1024 * 1024;
      const before = process.memoryUsage().arrayBuffers;
      let most = before;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().arrayBuffers);
      }, 5);
      try {
        const statuses = await Promise.all(
          Array.from({ length: 4 }, async () => {
            const call = session.request({
              ':method': 'POST',
              ':path': `/${usage.UsageService.typeName}/WriteUsage`,
              'content-type': 'application/grpc',
              te: 'trailers',
              'x-sluice-token': 'a guess',
            });
            call.on('error', () => {});
            const answered = once(call, 'response').then(([headers]) => headers['grpc-status']);
            // All but the end of the message: the answer must be there without it.
            await pipeline(Readable.from(beginOf(messageBytes)), call, { end: false });
            const status = await Promise.race([answered, delay(1000)]);
            call.destroy();
            return status;
          }),
        );
        expect(statuses).toEqual(Array(4).fill(String(unauthenticated)));
        expect(seen.decoded).toBe(0);
        // Of 240 MiB sent, what the collector has not taken yet.
        expect((most - before) / 1024 / 1024).toBeLessThan(120);
      } finally {
        clearInterval(watch);
        session.destroy();
      }
    }));

  it('is refused with a wrong one', () =>
    serving({}, async (seen) => {
      const { port } = seen;
      expect(await statusOf(port)).toBe(0);
      expect(await statusOf(port, { token: 'a-token-of-somebody-else' })).toBe(unauthenticated);
      expect(await statusOf(port, { token: `${token}x` })).toBe(unauthenticated);
      expect(seen.decoded).toBe(1);
    }));
});

const ourClient = { ...trusting, cert: pem('client'), key: pem('client-key') };

describe('mutual TLS', () => {
  it('hears a client that the authority signed, with the right token', () =>
    serving({ tls }, async (seen) => {
      expect(await statusOf(seen.port, { tls: ourClient })).toBe(0);
      expect(seen.decoded).toBe(1);
    }));

  it('asks for the token as well', () =>
    serving({ tls }, async ({ port }) => {
      expect(await statusOf(port, { tls: ourClient, token: 'x' })).toBe(unauthenticated);
    }));
});

// Side by side: each call waits for a side that may only just have gone.
describe.concurrent('mutual TLS', () => {
  it.each<[string, ClientTls | undefined]>([
    ['one without a certificate', trusting],
    ['plaintext', undefined],
    ['one of another authority', { ...trusting, cert: pem('stranger'), key: pem('stranger-key') }],
    ['one that has expired', { ...trusting, cert: pem('expired'), key: pem('expired-key') }],
  ])('refuses %s, all with the right token', (_case, client) =>
    serving({ tls }, async (seen) => {
      expect(await statusOf(seen.port, client === undefined ? {} : { tls: client })).toBe(
        unavailable,
      );
      expect(seen.decoded).toBe(0);
    }),
  );

  it.each<[string, CertificateName, CertificateName]>([
    ['another authority', 'stranger', 'stranger-key'],
    ['a time that is over', 'expired', 'expired-key'],
  ])('tells nothing to a server with a certificate of %s', (_case, cert, key) =>
    serving({ tls: { cert: pem(cert), key: pem(key) } }, async (seen) => {
      expect(await statusOf(seen.port, { tls: trusting })).toBe(unavailable);
      expect(seen.decoded).toBe(0);
    }),
  );
});

describe('the settings of TLS', () => {
  const none = { TLS_CERT_PATH: undefined, TLS_KEY_PATH: undefined, TLS_CA_PATH: undefined };
  const paths = {
    TLS_CERT_PATH: testCertificatePath('server'),
    TLS_KEY_PATH: testCertificatePath('server-key'),
    TLS_CA_PATH: testCertificatePath('authority'),
  };

  it('give a server and a client', () => {
    expect([serverTls(none), clientTls(none)]).toEqual([undefined, undefined]);
    expect(serverTls(paths)).toEqual(tls);
    expect(clientTls(paths)).toEqual({ ca: tls.clientCa, cert: tls.cert, key: tls.key });
    const own = {
      ...paths,
      TLS_CERT: testCertificate('client'),
      TLS_KEY: testCertificate('client-key'),
    };
    expect(clientTls(own)).toEqual({
      ca: tls.clientCa,
      cert: pem('client'),
      key: pem('client-key'),
    });
    expect(serverTls(own)).toEqual(tls);
  });

  it.each([
    ['a certificate without its key', { ...paths, TLS_KEY_PATH: undefined }, 'are needed both'],
    ['a missing file', { ...paths, TLS_CA_PATH: '/nowhere/ca.pem' }, 'TLS_CA_PATH names /nowhere'],
    [
      'a key of another certificate',
      { ...paths, TLS_KEY_PATH: testCertificatePath('client-key') },
      'cannot be used',
    ],
  ])('with %s stop the start, and never mean plaintext', (_case, settings, message) => {
    expect(() => serverTls(settings)).toThrow(message);
    expect(() => clientTls(settings)).toThrow(message);
  });
});

it('a gateway speaks HTTPS where it is told to, and nothing else there', async () => {
  const service = await startService('gateway', {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    SERVICE_CLIENT_AUTH: token,
    KEY_PEPPER: '00'.repeat(32),
    SNAPSHOT_KEY: '00'.repeat(32),
    DATA_DIR: await temporaryFolder('https'),
    HTTP_TLS_ENABLED: 'true',
    TLS_CERT_PATH: testCertificatePath('server'),
    TLS_KEY_PATH: testCertificatePath('server-key'),
  });
  try {
    const port = service.stderr().match(/"port":(\d+)/)?.[1];
    const asked = get(`https://localhost:${port}/health/live`, {
      ca: testCertificate('authority'),
    });
    const [answer] = await once(asked, 'response');
    answer.resume();
    expect(answer.statusCode).toBe(200);
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();
  } finally {
    await service.stop();
  }
});

describe('the token', () => {
  it('is not sent in the clear beyond loopback, unless an operator says so', () => {
    const options = { address: 'control-plane:8790', token };
    expect(() => createRpcClient(usage.UsageService, options)).toThrow('needs TLS');
    createRpcClient(usage.UsageService, { ...options, allowInsecure: true }).close();
    createRpcClient(usage.UsageService, { ...options, tls: trusting }).close();
  });

  it('of a gateway that is told to ask elsewhere stops its start with what to set', async () => {
    const folder = await temporaryFolder('insecure');
    const start = startService('gateway', {
      PORT: '0',
      METRICS_PORT: '0',
      SERVICE_CLIENT_AUTH: token,
      KEY_PEPPER: '00'.repeat(32),
      SNAPSHOT_KEY: '00'.repeat(32),
      DATA_DIR: folder,
      CONTROL_PLANE_GRPC_URL: 'control-plane.example:8790',
    });
    await expect(start).rejects.toThrow('GRPC_ALLOW_INSECURE');
  });
});
