import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { failureCauses, GatewayError } from '@sluice/errors';
import { type CertificateName, testCertificate } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConnectGuardOptions, createConnectGuard } from './guarded-connect.ts';
import { makeHostRules } from './host-rules.ts';
import { createUpstreamPools } from './pools.ts';
import { readProxies } from './proxies.ts';
import { upstreamFailure } from './upstream-failure.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** A port that nobody listens at: it was ours a moment ago. */
async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await new Promise<number>((ready) =>
    server.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port)),
  );
  await new Promise((done) => server.close(done));
  return port;
}

const tlsServer = (name: CertificateName) =>
  listen(
    createHttpsServer(
      { cert: testCertificate(name), key: testCertificate(`${name}-key` as CertificateName) },
      (_req, res) => res.end('here'),
    ),
  );

const tcpServer = (onSocket: (socket: Socket) => void) => listen(createTcpServer(onSocket));

interface Call {
  origin: string;
  guard?: Partial<ConnectGuardOptions>;
  /** The authority of the tests is trusted. */
  trusts?: boolean;
}

/** What comes of a real call: the failure as callers and operators are told of it. */
async function failureOf({ origin, guard, trusts }: Call): Promise<GatewayError> {
  const pools = createUpstreamPools({
    guard: createConnectGuard({
      rules: makeHostRules({
        trusted: ['127.0.0.1', 'localhost', '*.example.com'],
        production: true,
      }),
      connectTimeoutMs: 500,
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      ...guard,
    }),
  });
  cleanups.push(() => pools.close(0));
  const tls = trusts ? { id: 'tests', ca: testCertificate('authority') } : undefined;
  let headKnown = false;
  try {
    const reply = await pools
      .pool(origin, { by: 'admin', tls })
      .request({ method: 'GET', path: '/' });
    headKnown = true;
    await reply.body.text();
  } catch (error) {
    return upstreamFailure(error, headKnown);
  }
  throw new Error('the call went well');
}

const notFound = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
const noServer = Object.assign(new Error('no server answered'), { code: 'EAI_AGAIN' });

/** Each way in which a host is not reached, with real sockets, and what is said of it. */
const ways: Record<string, { code: string; call: () => Promise<Call> | Call }> = {
  dns: {
    code: 'upstream.unreachable',
    call: () => ({
      origin: 'http://a.example.com',
      guard: { lookup: () => Promise.reject(notFound) },
    }),
  },
  dns_unavailable: {
    code: 'upstream.unreachable',
    call: () => ({
      origin: 'http://a.example.com',
      guard: { lookup: () => Promise.reject(noServer) },
    }),
  },
  refused: {
    code: 'upstream.unreachable',
    call: async () => ({ origin: `http://127.0.0.1:${await freePort()}` }),
  },
  no_route: {
    code: 'upstream.unreachable',
    call: () => ({
      origin: 'http://a.example.com',
      guard: {
        lookup: async () => [{ address: '93.184.215.14', family: 4 }],
        openSocket: () => {
          throw Object.assign(new Error('no way'), { code: 'ENETUNREACH' });
        },
      },
    }),
  },
  connect_timeout: {
    code: 'upstream.connect_timeout',
    // Takes the connection, and never says a word of TLS.
    call: async () => ({ origin: `https://localhost:${await tcpServer(() => undefined)}` }),
  },
  busy: {
    code: 'upstream.unreachable',
    call: () => ({ origin: 'http://127.0.0.1:1', guard: { waitingMax: 0, connectingMax: 0 } }),
  },
  proxy_unreachable: {
    code: 'upstream.unreachable',
    call: async () => ({
      origin: 'https://a.example.com',
      guard: { proxies: proxiesAt(await freePort()) },
    }),
  },
  proxy_refused: {
    code: 'upstream.unreachable',
    call: async () => {
      const proxy = createHttpServer();
      proxy.on('connect', (_req, socket: Socket) =>
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
      );
      return {
        origin: 'https://a.example.com',
        guard: { proxies: proxiesAt(await listen(proxy)) },
      };
    },
  },
  tls_expired: {
    code: 'upstream.unreachable',
    call: async () => ({ origin: `https://localhost:${await tlsServer('expired')}`, trusts: true }),
  },
  tls_self_signed: {
    code: 'upstream.unreachable',
    call: async () => ({ origin: `https://localhost:${await tlsServer('self-signed')}` }),
  },
  tls_wrong_host: {
    code: 'upstream.unreachable',
    call: async () => ({
      origin: `https://other.example.com:${await tlsServer('server')}`,
      trusts: true,
    }),
  },
  tls_untrusted: {
    code: 'upstream.unreachable',
    call: async () => ({ origin: `https://localhost:${await tlsServer('server')}` }),
  },
  tls: {
    code: 'upstream.unreachable',
    call: async () => ({
      origin: `https://localhost:${await listen(createHttpServer((_req, res) => res.end()))}`,
    }),
  },
  reset: {
    code: 'upstream.reset',
    call: async () => ({
      origin: `http://127.0.0.1:${await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()))}`,
    }),
  },
  closed: {
    code: 'upstream.reset',
    call: async () => ({
      origin: `http://127.0.0.1:${await tcpServer((socket) => socket.once('data', () => socket.end()))}`,
    }),
  },
  invalid_response: {
    code: 'upstream.invalid_response',
    call: async () => ({
      origin: `http://127.0.0.1:${await tcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0\r\n\r\n')))}`,
    }),
  },
};

const proxiesAt = (port: number) =>
  readProxies({
    httpsProxy: `http://127.0.0.1:${port}`,
    httpProxy: undefined,
    noProxy: undefined,
  });

describe('upstreamFailure', () => {
  it.each(Object.entries(ways))(
    'of a real connection says %s, and nothing of hosts and addresses',
    async (failureCause, { code, call }) => {
      const asked = await call();
      const error = await failureOf(asked);
      expect(error).toMatchObject({ code, failureCause });
      const { hostname, port } = new URL(asked.origin);
      for (const inside of [hostname, '127.0.0.1', 'example.com', port])
        if (inside !== '') expect(error.message).not.toContain(inside);
      if (code === 'upstream.unreachable')
        expect(error.message).toContain(failureCauses[failureCause as keyof typeof failureCauses]);
    },
  );

  it('knows every cause but those that a deadline of the call makes', () => {
    expect([...Object.keys(ways), 'timeout', 'stalled'].sort()).toEqual(
      Object.keys(failureCauses).sort(),
    );
  });

  it.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.destroy()],
  ])('an answer that breaks off is cut, whatever cut it: %s', async (failureCause, cut) => {
    const port = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf', () =>
          setTimeout(cut, 20, socket),
        );
      }),
    );
    expect(await failureOf({ origin: `http://127.0.0.1:${port}` })).toMatchObject({
      code: 'upstream.stream_cut',
      failureCause,
    });
  });

  it('finds the code in causes, and tells of the address that says most', () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const noRoute = Object.assign(new Error('x'), { code: 'ENETUNREACH' });
    for (const error of [
      refused,
      new Error('outer', { cause: refused }),
      new AggregateError([noRoute, refused]),
    ])
      expect(upstreamFailure(error, false).failureCause).toBe('refused');
  });

  it('leaves an error that says why already as it is', () => {
    const error = new GatewayError('host.invalid');
    expect(upstreamFailure(new Error('outer', { cause: error }), false)).toBe(error);
  });
});
