import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { testCertificate } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { createConnectGuard, type TlsIdentity } from './guarded-connect.ts';
import { makeHostRules } from './host-rules.ts';
import { createUpstreamPools } from './pools.ts';
import { readProxies } from './proxies.ts';
import { upstreamFailure } from './upstream-failure.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const privateCa: TlsIdentity = { id: 'private', ca: testCertificate('authority') };

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** A real CONNECT proxy, that knows one address for every name. */
async function startProxy(portOfTarget: number, answer = '200 Connection Established') {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const server = createHttpServer();
  server.on('connect', (req: IncomingMessage, client: Socket, head: Buffer) => {
    asked.push({ target: req.url ?? '', authorization: req.headers['proxy-authorization'] });
    if (!answer.startsWith('200')) return client.end(`HTTP/1.1 ${answer}\r\n\r\n`);
    const link = connect(portOfTarget, '127.0.0.1', () => {
      client.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      link.write(head);
      link.pipe(client).pipe(link);
    });
    link.on('error', () => client.destroy());
    client.on('error', () => link.destroy());
    return undefined;
  });
  return { port: await listen(server), asked };
}

function poolsVia(proxy: string, noProxy?: string, opened: string[] = []) {
  const made = createUpstreamPools({
    guard: createConnectGuard({
      rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
      connectTimeoutMs: 2_000,
      proxies: readProxies({ httpsProxy: proxy, httpProxy: proxy, noProxy }),
      lookup: async () => [{ address: '203.0.113.9', family: 4 }],
      openSocket: (addresses) => {
        opened.push(...addresses.map(({ address }) => address));
        throw new Error('nothing is opened directly');
      },
    }),
  });
  cleanups.push(() => made.close(0));
  return made;
}

async function get(
  pools: ReturnType<typeof poolsVia>,
  origin: string,
  tls?: TlsIdentity,
): Promise<string> {
  const { body } = await pools
    .pool(origin, { tls, by: 'admin' })
    .request({ path: '/x', method: 'GET' });
  return body.text();
}

const echoHost = (req: IncomingMessage, res: { end(text: string): void }) =>
  res.end(`${req.headers.host}${req.url}`);

describe('a proxy', () => {
  it('carries TLS to a name that it resolves, with its own credential and without ours', async () => {
    const upstream = createHttpsServer(
      { key: testCertificate('server-key'), cert: testCertificate('server') },
      echoHost,
    );
    const { port, asked } = await startProxy(await listen(upstream));
    const pools = poolsVia(`http://user:secret@127.0.0.1:${port}`);
    expect(await get(pools, 'https://llm.example.com', privateCa)).toBe('llm.example.com/x');
    expect(asked).toEqual([
      {
        target: 'llm.example.com:443',
        authorization: `Basic ${Buffer.from('user:secret').toString('base64')}`,
      },
    ]);
  });

  it('may itself be reached over TLS, when its certificate is trusted', async () => {
    const { port } = await startProxy(await listen(createHttpServer(echoHost)));
    const front = createHttpsServer({
      key: testCertificate('server-key'),
      cert: testCertificate('server'),
    });
    front.on('connect', (req, client: Socket) => {
      const link = connect(port, '127.0.0.1', () => {
        link.write(`CONNECT ${req.url} HTTP/1.1\r\nhost: ${req.url}\r\n\r\n`);
        link.pipe(client).pipe(link);
      });
      client.on('error', () => link.destroy());
      link.on('error', () => client.destroy());
    });
    const proxy = `https://localhost:${await listen(front)}`;
    await expect(get(poolsVia(proxy), 'http://llm.example.com')).rejects.toMatchObject({
      code: 'upstream.unreachable',
    });
    const before = getCACertificates('default');
    cleanups.push(() => setDefaultCACertificates(before));
    // What NODE_EXTRA_CA_CERTS does when a process starts.
    setDefaultCACertificates([...before, testCertificate('authority')]);
    expect(await get(poolsVia(proxy), 'http://llm.example.com')).toBe('llm.example.com/x');
  });

  it('carries plain HTTP, many requests over one tunnel', async () => {
    const { port, asked } = await startProxy(await listen(createHttpServer(echoHost)));
    const pools = poolsVia(`127.0.0.1:${port}`);
    for (let i = 0; i < 3; i += 1)
      expect(await get(pools, 'http://llm.example.com:8080')).toBe('llm.example.com:8080/x');
    expect(asked.length).toBeLessThanOrEqual(2);
    expect(asked[0]?.target).toBe('llm.example.com:8080');
  });

  it.each([
    'http://169.254.169.254',
    'http://metadata.google.internal',
    'https://10.0.0.1',
    'https://llm.corp',
    'https://example.com:6443',
    'http://10.0.0.1.nip.io',
  ])('is not asked for %s', async (origin) => {
    const { port, asked } = await startProxy(1);
    await expect(
      get(poolsVia(`http://127.0.0.1:${port}`), origin, privateCa),
    ).rejects.toMatchObject({ code: 'host.invalid' });
    expect(asked).toEqual([]);
  });

  it('is not asked for what NO_PROXY names, which is checked as without a proxy', async () => {
    const { port, asked } = await startProxy(1);
    const opened: string[] = [];
    const pools = poolsVia(`http://127.0.0.1:${port}`, 'llm.example.com', opened);
    await expect(get(pools, 'https://llm.example.com')).rejects.toMatchObject({
      code: 'host.invalid',
    });
    expect([asked, opened]).toEqual([[], []]);
  });

  it.each(['407 Proxy Authentication Required', '403 Forbidden', '502 Bad Gateway'])(
    'that answers %s makes the provider unreachable',
    async (answer) => {
      const { port } = await startProxy(1, answer);
      const error = await get(
        poolsVia(`http://user:secret@127.0.0.1:${port}`),
        'https://llm.example.com',
      ).catch((caught: unknown) => upstreamFailure(caught, false));
      expect(error).toMatchObject({
        code: 'upstream.unreachable',
        message: `The provider could not be reached: the proxy on the way to it refused to connect (${answer.slice(0, 3)}).`,
      });
    },
  );

  it('that is away makes the provider unreachable, and names no address', async () => {
    const port = await listen(createHttpServer());
    for (const cleanup of cleanups.splice(0)) await cleanup();
    const pools = poolsVia(`http://user:secret@127.0.0.1:${port}`);
    const error = await get(pools, 'https://llm.example.com').catch((caught: unknown) =>
      upstreamFailure(caught, false),
    );
    expect(error).toMatchObject({
      code: 'upstream.unreachable',
      message:
        'The provider could not be reached: the proxy on the way to it could not be reached.',
    });
  });

  it('that says nothing is given up when the time to connect is over', async () => {
    const silent = createHttpServer();
    silent.on('connect', () => undefined);
    const pools = poolsVia(`http://127.0.0.1:${await listen(silent)}`);
    const error = await get(pools, 'https://llm.example.com').catch((caught: unknown) =>
      upstreamFailure(caught, false),
    );
    expect(error).toMatchObject({ code: 'upstream.connect_timeout' });
  });
});
