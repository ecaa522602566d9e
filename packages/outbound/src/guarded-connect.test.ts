import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { testCertificate } from '@sluice/testkit';
import { errors, Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { Address } from './address.ts';
import {
  type ConnectGuardOptions,
  createConnectGuard,
  type OpenSocket,
  type TlsIdentity,
} from './guarded-connect.ts';
import { checkUpstreamUrl, makeHostRules } from './host-rules.ts';
import { hostileUrls } from './hostile-urls.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const production = makeHostRules({ trusted: [], production: true });
const v4 = (...addresses: string[]): Address[] =>
  addresses.map((address) => ({ address, family: 4 }));

/** Stands where sockets are opened: keeps what was asked for, and sends no packet. */
function recorder() {
  const opened: string[] = [];
  const openSocket: OpenSocket = (addresses) => {
    opened.push(...addresses.map(({ address }) => address));
    throw new Error('the recorder opens nothing');
  };
  return { opened, openSocket };
}

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => new Promise((done) => server.close(done)));
  return (server.address() as AddressInfo).port;
}

const answerWithHost: RequestListener = (req, res) =>
  res.end(JSON.stringify({ host: req.headers.host, sni: sniOf(req) }));
const sniOf = (req: IncomingMessage) =>
  (req.socket as Socket & { servername?: string | false }).servername;

function fetchVia(
  options: ConnectGuardOptions,
  origin: string,
  tls?: TlsIdentity,
): Promise<{ host: string; sni: string | false }> {
  const pool = new Pool(origin, {
    connect: createConnectGuard(options).connector({ tls, by: 'admin' }),
    allowH2: false,
  });
  cleanups.push(() => pool.destroy());
  return pool
    .request({ method: 'GET', path: '/' })
    .then(async ({ body }) => (await body.json()) as { host: string; sni: string | false });
}

describe('no packet is sent to', () => {
  it.each(hostileUrls)('%j', async (raw) => {
    const { opened, openSocket } = recorder();
    const lookup = async () => v4('127.0.0.1');
    const call = async () =>
      fetchVia(
        { rules: production, lookup, openSocket },
        checkUpstreamUrl(raw, production).url.origin,
      );
    await expect(call()).rejects.toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
  });

  it.each([
    'http://metadata.google.internal',
    'http://127.0.0.1',
    'http://[::1]',
    'http://2130706433',
    'http://127.1',
    'http://10.0.0.1.nip.io',
    'http://x.corp',
    'https://example.com:6443',
    'http://[fd00:ec2::254]',
  ])('%j, although the URL was never checked before', async (origin) => {
    const { opened, openSocket } = recorder();
    await expect(
      fetchVia({ rules: production, lookup: async () => v4('8.8.8.8'), openSocket }, origin),
    ).rejects.toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
  });

  it.each([
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['8.8.8.8', '10.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['2606:4700::1', 'fe80::1%eth0'],
    ['8.8.8.8', '64:ff9b::a00:1'],
  ])('a public name that resolves to %j %j', async (...addresses) => {
    const { opened, openSocket } = recorder();
    const lookup = async () =>
      addresses
        .filter(Boolean)
        .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }) as Address);
    const call = fetchVia({ rules: production, lookup, openSocket }, 'http://rebind.example.com');
    await expect(call).rejects.toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
  });

  it('a trusted name that resolves to a metadata service', async () => {
    const { opened, openSocket } = recorder();
    const rules = makeHostRules({ trusted: ['llm.corp'], production: true });
    const call = fetchVia(
      { rules, lookup: async () => v4('169.254.169.254'), openSocket },
      'http://llm.corp',
    );
    await expect(call).rejects.toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
  });
});

describe('rebinding', () => {
  it('is stopped: a name that was public when checked and is private when connecting is refused', async () => {
    const { opened, openSocket } = recorder();
    const answers = [v4('8.8.8.8'), v4('127.0.0.1')];
    const lookup = async () => answers.shift()!;
    const origin = checkUpstreamUrl('http://rebind.example.com/v1', production).url.origin;
    await expect(fetchVia({ rules: production, lookup, openSocket }, origin)).rejects.toThrow(
      'the recorder opens nothing',
    );
    await expect(fetchVia({ rules: production, lookup, openSocket }, origin)).rejects.toMatchObject(
      { code: 'host.invalid' },
    );
    expect(opened).toEqual(['8.8.8.8']);
  });

  it('finds no second look-up to lie to: the socket goes to the answers that were checked', async () => {
    const port = await listen(createServer(answerWithHost));
    let lookups = 0;
    const rules = makeHostRules({ trusted: ['llm.example.com'], production: true });
    const lookup = async () => {
      lookups += 1;
      return v4('127.0.0.1');
    };
    // The name does not exist outside of this test; a look-up by the system would fail.
    const reply = await fetchVia({ rules, lookup }, `http://llm.example.com:${port}`);
    expect(reply.host).toBe(`llm.example.com:${port}`);
    expect(lookups).toBe(1);
  });

  it('does not tell the caller which address it was', async () => {
    const call = fetchVia(
      { rules: production, lookup: async () => v4('10.9.8.7'), ...recorder() },
      'http://rebind.example.com',
    );
    const error = await call.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).message).not.toContain('10.9.8.7');
    expect((error as GatewayError).detail).toMatchObject({ address: '10.9.8.7' });
  });
});

describe('connecting for real', () => {
  const development = makeHostRules({ trusted: undefined, production: false });

  it.each(['localhost', '127.0.0.1'])('reaches a trusted %s', async (host) => {
    const port = await listen(createServer(answerWithHost));
    expect((await fetchVia({ rules: development }, `http://${host}:${port}`)).host).toBe(
      `${host}:${port}`,
    );
  });

  it('goes on to the next address when one refuses', async () => {
    const port = await listen(createServer(answerWithHost));
    const rules = makeHostRules({ trusted: ['llm.corp'], production: true });
    // Nothing listens on 127.0.0.2 at this port.
    const reply = await fetchVia(
      { rules, lookup: async () => v4('127.0.0.2', '127.0.0.1') },
      `http://llm.corp:${port}`,
    );
    expect(reply.host).toBe(`llm.corp:${port}`);
  });

  it('keeps the name for SNI and the certificate check, and refuses a certificate for another name', async () => {
    const certificate = { key: testCertificate('server-key'), cert: testCertificate('server') };
    const port = await listen(createTlsServer(certificate, answerWithHost));
    const rules = makeHostRules({ trusted: ['example.com'], production: true });
    const options = { rules, lookup: async () => v4('127.0.0.1') };
    const tls = { id: 'test', ca: testCertificate('authority') };
    const reply = await fetchVia(options, `https://llm.example.com:${port}`, tls);
    expect(reply).toEqual({ host: `llm.example.com:${port}`, sni: 'llm.example.com' });
    await expect(fetchVia(options, `https://other.example.com:${port}`, tls)).rejects.toMatchObject(
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    );
    await expect(fetchVia(options, `https://llm.example.com:${port}`)).rejects.toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });

  it('fails with what the system said when nothing listens or the name does not exist', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((done) => server.close(done));
    await expect(
      fetchVia({ rules: development }, `http://127.0.0.1:${port}`),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const lookup = () =>
      Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    await expect(
      fetchVia({ rules: production, lookup }, 'http://nowhere.example.com'),
    ).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(
      fetchVia({ rules: production, lookup: async () => [] }, 'http://nowhere.example.com'),
    ).rejects.toMatchObject({ code: 'upstream.unreachable' });
  });
});

describe('the deadline', () => {
  it('ends a look-up that never answers', async () => {
    const call = fetchVia(
      { rules: production, connectTimeoutMs: 20, lookup: () => new Promise(() => {}) },
      'http://slow.example.com',
    );
    await expect(call).rejects.toBeInstanceOf(errors.ConnectTimeoutError);
  });

  it('ends a TLS handshake that never answers, and closes the socket', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await listen(
      createTcpServer((socket) => socket.resume().on('close', () => closed.resolve())),
    );
    const rules = makeHostRules({ trusted: ['127.0.0.1'], production: true });
    await expect(
      fetchVia({ rules, connectTimeoutMs: 50 }, `https://127.0.0.1:${port}`),
    ).rejects.toBeInstanceOf(errors.ConnectTimeoutError);
    await closed.promise;
  });

  it('opens no socket for a look-up that answers too late', async () => {
    const { opened, openSocket } = recorder();
    const late = Promise.withResolvers<Address[]>();
    const call = fetchVia(
      { rules: production, connectTimeoutMs: 20, lookup: () => late.promise, openSocket },
      'http://slow.example.com',
    );
    await expect(call).rejects.toBeInstanceOf(errors.ConnectTimeoutError);
    late.resolve(v4('8.8.8.8'));
    await new Promise(setImmediate);
    expect(opened).toEqual([]);
  });
});

describe('look-ups', () => {
  /** Resolves names only when told to, and counts. */
  function manualLookup() {
    const pending = new Map<string, () => void>();
    const stats = { runningMost: 0, started: [] as string[] };
    const lookup = (hostname: string) =>
      new Promise<Address[]>((resolve) => {
        stats.started.push(hostname);
        pending.set(hostname, () => {
          pending.delete(hostname);
          resolve(v4('10.0.0.1'));
        });
        stats.runningMost = Math.max(stats.runningMost, pending.size);
      });
    return { pending, stats, lookup };
  }

  const tenant = (owner: string) => ({ owner: () => owner });
  const connectTo = (
    connector: ReturnType<ReturnType<typeof createConnectGuard>['connector']>,
    hostname: string,
  ) =>
    new Promise<Error | null>((done) =>
      connector({ hostname, protocol: 'http:', port: '80' }, (...[error]) => done(error)),
    );

  it('run five at a time for one owner; the others wait, and none is forgotten', async () => {
    const { pending, stats, lookup } = manualLookup();
    const connector = createConnectGuard({ rules: production, lookup }).connector(tenant('a'));
    const calls = Array.from({ length: 12 }, (_, i) => connectTo(connector, `h${i}.example.com`));
    let ended = 0;
    const all = Promise.all(calls.map((call) => call.then(() => (ended += 1))));
    while (ended < 12) {
      expect(pending.size).toBeLessThanOrEqual(5);
      for (const answer of [...pending.values()]) answer();
      await new Promise(setImmediate);
    }
    await all;
    expect(stats.started).toHaveLength(12);
    expect(stats.runningMost).toBe(5);
  });

  it('are shared by connections to one name, and asked anew by the next connection', async () => {
    const { pending, stats, lookup } = manualLookup();
    const connector = createConnectGuard({ rules: production, lookup }).connector();
    const both = [connectTo(connector, 'a.example.com'), connectTo(connector, 'a.example.com')];
    await new Promise(setImmediate);
    pending.get('a.example.com')!();
    await Promise.all(both);
    expect(stats.started).toEqual(['a.example.com']);
    const next = connectTo(connector, 'a.example.com');
    await new Promise(setImmediate);
    pending.get('a.example.com')!();
    await next;
    expect(stats.started).toEqual(['a.example.com', 'a.example.com']);
  });

  it('refuse at once when too many wait', async () => {
    const { lookup } = manualLookup();
    const connector = createConnectGuard({
      rules: production,
      lookup,
      validationsMax: 1,
      waitingMax: 1,
      connectTimeoutMs: 100,
    }).connector(tenant('a'));
    const first = connectTo(connector, 'a.example.com');
    const second = connectTo(connector, 'b.example.com');
    expect(await connectTo(connector, 'c.example.com')).toMatchObject({
      code: 'upstream.unreachable',
    });
    expect(await first).toBeInstanceOf(errors.ConnectTimeoutError);
    expect(await second).toBeInstanceOf(errors.ConnectTimeoutError);
  });

  it('of one owner that are never answered keep no other owner waiting', async () => {
    const asked: string[] = [];
    const lookup = (hostname: string) => {
      asked.push(hostname);
      return hostname.startsWith('slow')
        ? new Promise<Address[]>(() => undefined)
        : Promise.resolve(v4('10.0.0.1'));
    };
    const guard = createConnectGuard({ rules: production, lookup, connectTimeoutMs: 3_000 });
    const flood = Array.from({ length: 2_000 }, (_, i) =>
      connectTo(guard.connector(tenant('flood')), `slow${i}.example.com`),
    );
    const startedAt = performance.now();
    // Refused for its address, so the name was resolved.
    expect(await connectTo(guard.connector(tenant('other')), 'quick.example.com')).toMatchObject({
      code: 'host.invalid',
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(asked).toHaveLength(6);
    const failures = await Promise.all(flood);
    expect(failures.every((failure) => failure !== null)).toBe(true);
  });

  it('end at a deadline of their own, also for those who still wait', async () => {
    const { lookup, stats } = manualLookup();
    const guard = createConnectGuard({
      rules: production,
      lookup,
      validationsMax: 1,
      lookupTimeoutMs: 50,
    });
    const connector = guard.connector(tenant('a'));
    const both = [connectTo(connector, 'a.example.com'), connectTo(connector, 'b.example.com')];
    for (const failure of await Promise.all(both))
      expect(failure).toMatchObject({ code: 'EAI_AGAIN' });
    // A look-up that cannot be given up keeps its place.
    expect(stats.started).toEqual(['a.example.com']);
  });
});

describe('connections on their way', () => {
  it('are bounded for each owner, and one that reaches nothing gives its place back in time', async () => {
    const opened: string[] = [];
    const openSocket: OpenSocket = ([address]) => {
      opened.push(address?.address ?? '');
      return new Socket();
    };
    const guard = createConnectGuard({
      rules: production,
      openSocket,
      connectingMax: 2,
      connectTimeoutMs: 80,
    });
    const connect = (owner: string, hostname: string) =>
      new Promise<Error | null>((done) =>
        guard.connector({ owner: () => owner })(
          { hostname, protocol: 'http:', port: '80' },
          (...[error]) => done(error),
        ),
      );
    const flood = ['8.8.8.1', '8.8.8.2', '8.8.8.3'].map((host) => connect('flood', host));
    const other = connect('other', '8.8.4.4');
    await new Promise(setImmediate);
    expect(opened.sort()).toEqual(['8.8.4.4', '8.8.8.1', '8.8.8.2']);
    for (const failure of await Promise.all([...flood, other]))
      expect(failure).toBeInstanceOf(errors.ConnectTimeoutError);
    const next = connect('flood', '8.8.8.4');
    await new Promise(setImmediate);
    expect(opened).toContain('8.8.8.4');
    await next;
  });
});

describe('whose address it is', () => {
  const rules = makeHostRules({ trusted: ['llm.example.com'], production: true });
  const lookup = async () => v4('10.1.2.3');

  it('decides whether a name may be private: an admin’s that is listed, and no caller’s', async () => {
    const { opened, openSocket } = recorder();
    const guard = createConnectGuard({ rules, lookup, openSocket });
    const connect = (by: 'admin' | 'caller') =>
      new Promise<Error | null>((done) =>
        guard.connector({ by })(
          { hostname: 'llm.example.com', protocol: 'http:', port: '80' },
          (...[error]) => done(error),
        ),
      );
    expect(await connect('caller')).toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
    await connect('admin');
    expect(opened).toEqual(['10.1.2.3']);
  });

  it('is a range’s, for names that resolve into it', async () => {
    const ranges = makeHostRules({ trusted: ['10.0.0.0/8:8000'], production: true });
    const { opened, openSocket } = recorder();
    const options = { rules: ranges, lookup, openSocket };
    await fetchVia(options, 'http://llm.example.com:8000').catch(() => undefined);
    expect(opened).toEqual(['10.1.2.3']);
    await expect(fetchVia(options, 'http://llm.example.com:8001')).rejects.toMatchObject({
      code: 'host.invalid',
    });
  });
});

describe('the parts of this installation', () => {
  const connectVia = (ownParts: string[], lookup: (name: string) => Promise<Address[]>) => {
    const { opened, openSocket } = recorder();
    const rules = makeHostRules({
      trusted: ['llm.corp', '10.0.0.0/8', '127.0.0.1'],
      production: true,
      ownParts,
    });
    const options = { rules, lookup, openSocket };
    return {
      opened,
      call: (url: string) => fetchVia(options, url).catch((error: Error) => error),
    };
  };

  it.each(['127.0.0.1', '127.0.0.9', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1'])(
    'are not reached by a trusted name that resolves to %s',
    async (address) => {
      const family = address.includes(':') ? 6 : 4;
      const lookup = async () => [{ address, family } as Address];
      const { opened, call } = connectVia(['127.0.0.1:8788'], lookup);
      expect(await call('http://llm.corp:8788')).toMatchObject({ code: 'host.invalid' });
      expect(opened).toEqual([]);
      await call('http://llm.corp:8799');
      expect(opened).toEqual([address]);
    },
  );

  it('are not reached at the addresses that their own names resolve to', async () => {
    const lookup = async (name: string) => v4(name === 'control-plane' ? '10.5.5.5' : '10.1.1.1');
    const { opened, call } = connectVia(['http://control-plane:8788'], lookup);
    expect(await call('http://10.5.5.5:8788')).toMatchObject({ code: 'host.invalid' });
    expect(opened).toEqual([]);
    await call('http://10.5.5.5:8000');
    await call('http://llm.corp:8788');
    expect(opened).toEqual(['10.5.5.5', '10.1.1.1']);
  });
});
