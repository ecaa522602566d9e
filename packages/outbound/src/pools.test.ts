import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createConnectGuard } from './guarded-connect.ts';
import { makeHostRules } from './host-rules.ts';
import { createUpstreamPools, type UpstreamPools, type UpstreamPoolsOptions } from './pools.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const guard = createConnectGuard({
  rules: makeHostRules({
    trusted: [],
    trustedForCallers: ['127.0.0.1', 'localhost'],
    production: true,
  }),
});

function pools(options: Partial<UpstreamPoolsOptions> = {}): UpstreamPools {
  const made = createUpstreamPools({ guard, ...options });
  cleanups.push(() => made.close(0));
  return made;
}

async function upstream(listener: RequestListener) {
  const sockets = new Set<Socket>();
  const server = createServer(listener).on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** One that holds as many requests as there are. */
async function burstUpstream() {
  const held: ServerResponse[] = [];
  return { held, ...(await upstream((_req, res) => void held.push(res))) };
}

/** An upstream that answers only when told to. */
async function heldUpstream() {
  const held: ServerResponse[] = [];
  let arrived = Promise.withResolvers<ServerResponse>();
  const { origin } = await upstream((_req, res) => {
    held.push(res);
    arrived.resolve(res);
    arrived = Promise.withResolvers();
  });
  return { origin, held, next: () => arrived.promise };
}

const get = (from: UpstreamPools, origin: string, path = '/') =>
  from.pool(origin).request({ method: 'GET', path });

describe('pool', () => {
  it('keeps one pool for an origin and reuses its connections', async () => {
    const { origin, sockets } = await upstream((_req, res) => res.end('ok'));
    const made = pools();
    for (let i = 0; i < 10; i += 1) await (await get(made, origin)).body.dump();
    expect(made.pool(origin)).toBe(made.pool(origin));
    // undici opens a second one when the first is still being cleared.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('does not share connections between TLS identities', () => {
    const made = pools();
    const origin = 'https://llm.example.com';
    expect(made.pool(origin, { tls: { id: 'a' } })).not.toBe(
      made.pool(origin, { tls: { id: 'b' } }),
    );
    expect(made.pool(origin, { tls: { id: 'a' } })).not.toBe(made.pool(origin));
  });

  it('hands a redirect back instead of following it', async () => {
    const { origin } = await upstream((req, res) =>
      res.writeHead(req.url === '/' ? 302 : 200, { location: '/elsewhere' }).end(),
    );
    const reply = await get(pools(), origin);
    await reply.body.dump();
    expect(reply.statusCode).toBe(302);
  });

  it('connects only where the guard allows', async () => {
    await expect(get(pools(), 'http://127.0.0.3:8080')).rejects.toMatchObject({
      code: 'host.invalid',
    });
  });

  it('opens no more connections than it may; the next request waits for a free one', async () => {
    const { origin, held, next } = await heldUpstream();
    const made = pools({ connectionsMax: 1 });
    const firstArrived = next();
    const replies = [get(made, origin, '/1'), get(made, origin, '/2')];
    await firstArrived;
    const secondArrived = next();
    expect(held).toHaveLength(1);
    held[0]!.end();
    await (await replies[0]!).body.dump();
    await secondArrived;
    held[1]!.end();
    await (await replies[1]!).body.dump();
  });
});

describe('connections of one origin', () => {
  it('a burst opens one for each request, and the next burst takes them', async () => {
    const { origin, held, sockets } = await burstUpstream();
    const made = pools();
    for (let round = 1; round <= 2; round += 1) {
      const replies = Array.from({ length: 20 }, () => get(made, origin));
      await expect.poll(() => held.length).toBe(20);
      for (const response of held.splice(0)) response.end('ok');
      await Promise.all(replies.map(async (reply) => (await reply).body.dump()));
      await expect.poll(() => made.pool(origin).isIdle).toBe(true);
      // Free a turn after their answers are.
      await new Promise((done) => setImmediate(done));
    }
    expect(sockets.size).toBe(20);
    expect(made.load).toEqual({ connections: 20, waiting: 0 });
  });

  it('one that is cut, closed or cannot be opened gives its place to whoever waits', async () => {
    const { origin, held, sockets } = await burstUpstream();
    const made = pools({ connectionsMax: 1 });
    for (let round = 1; round <= 3; round += 1) {
      const [cut, closed] = [get(made, origin), get(made, origin)];
      await expect.poll(() => held.length).toBe(1);
      held.splice(0)[0]?.destroy();
      await expect(cut).rejects.toThrow();
      await expect.poll(() => held.length).toBe(1);
      held.splice(0)[0]?.writeHead(200, { connection: 'close' }).end('ok');
      await (await closed).body.dump();
    }
    expect(sockets.size).toBe(6);
    await expect.poll(() => made.load).toEqual({ connections: 0, waiting: 0 });
    const refused = pools({ connectionsMax: 1 });
    const outcomes = Array.from({ length: 5 }, () => get(refused, 'http://127.0.0.1:9'));
    for (const outcome of outcomes) await expect(outcome).rejects.toThrow();
    expect(refused.load).toEqual({ connections: 0, waiting: 0 });
  });

  it('a request that cannot even be made takes none', async () => {
    const { origin } = await upstream((_req, res) => res.end('ok'));
    const made = pools({ connectionsMax: 1 });
    const bad = made.pool(origin).request({ method: 'GET', path: 'no path' });
    await expect(bad).rejects.toThrow();
    expect(await (await get(made, origin)).body.text()).toBe('ok');
  });

  it('whoever gives up as it begins leaves it to the next, whether it is open or not', async () => {
    let [now, most] = [0, 0];
    const { origin } = await upstream((_req, res) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        res.end('ok');
      }, 5);
    });
    const made = pools({ connectionsMax: 1 });
    // Once before there is a connection, then on the one that is open.
    for (let round = 0; round < 2; round += 1) {
      const gaveUp = Promise.withResolvers<Error>();
      made.pool(origin).dispatch(
        { method: 'GET', path: '/', origin },
        {
          onRequestStart: (controller) => controller.abort(new Error('gave up')),
          onResponseStart: () => {},
          onResponseData: () => {},
          onResponseEnd: () => {},
          onResponseError: (_controller, error) => gaveUp.resolve(error),
        },
      );
      const bad = made.pool(origin).request({ method: 'GET', path: 'no path' });
      const refused = expect(bad).rejects.toThrow('path');
      const replies = Array.from({ length: 4 }, () => get(made, origin));
      for (const reply of replies) expect(await (await reply).body.text()).toBe('ok');
      expect((await gaveUp.promise).message).toBe('gave up');
      await refused;
    }
    expect(most).toBe(1);
    expect(made.load).toEqual({ connections: 1, waiting: 0 });
  });
});

it('shows how many connections are open and how many requests wait, and bounds neither unless told', async () => {
  const { origin, held } = await heldUpstream();
  const bounded = pools({ connectionsMax: 1, connectionsWaitMs: 10 });
  const free = pools();
  expect(free.placeOf(free.pool(origin))).toBeUndefined();
  const replies = Promise.all(
    [bounded, bounded, ...Array.from({ length: 10 }, () => free)].map(async (made) =>
      (await get(made, origin)).body.dump(),
    ),
  );
  await expect.poll(() => held.length).toBe(11);
  expect(bounded.load).toEqual({ connections: 1, waiting: 1 });
  expect(bounded.placeOf(bounded.pool(origin))?.isTaken()).toBe(true);
  expect(free.load).toEqual({ connections: 10, waiting: 0 });
  for (const response of held) response.end();
  await expect.poll(() => held.length).toBe(12);
  held.at(-1)?.end();
  await replies;
});

describe('when there are too many origins', () => {
  it('the one not used for longest makes room', async () => {
    const made = pools({ poolsMax: 2 });
    const [a, b] = [made.pool('https://a.example.com'), made.pool('https://b.example.com')];
    made.pool('https://a.example.com');
    made.pool('https://c.example.com');
    expect(made.size).toBe(2);
    expect(b.closed).toBe(true);
    expect(made.pool('https://a.example.com')).toBe(a);
  });

  it('a pool with a request in flight is never the one', async () => {
    const { origin, next } = await heldUpstream();
    const made = pools({ poolsMax: 2 });
    const arrived = next();
    const reply = get(made, origin);
    const response = await arrived;
    for (const name of ['b', 'c', 'd']) made.pool(`https://${name}.example.com`);
    response.end('whole');
    expect(await (await reply).body.text()).toBe('whole');
  });

  it('a further origin is refused while all are busy, instead of cutting a request', async () => {
    const { origin, next } = await heldUpstream();
    const made = pools({ poolsMax: 1 });
    const arrived = next();
    const reply = get(made, origin);
    const response = await arrived;
    expect(() => made.pool('https://b.example.com')).toThrow(
      expect.objectContaining({ code: 'upstream.unreachable' }),
    );
    response.end('whole');
    expect(await (await reply).body.text()).toBe('whole');
    expect(made.pool('https://b.example.com').closed).toBe(false);
  });
});

describe('on one owner’s account', () => {
  it('only so many origins are busy; the others’ are not touched, and it gives up its own idle ones', async () => {
    const { origin, next } = await heldUpstream();
    const made = pools({ poolsMax: 10, ownerPoolsMax: 2 });
    const idle = made.pool('https://a.example.com', { owner: 'other' });
    const own = made.pool('https://b.example.com', { owner: 'flood' });
    made.pool('https://c.example.com', { owner: 'flood' });
    made.pool('https://d.example.com', { owner: 'flood' });
    expect([idle.closed, own.closed, made.size]).toEqual([false, true, 3]);
    const busy = pools({ poolsMax: 10, ownerPoolsMax: 1 });
    const arrived = next();
    const reply = busy.pool(origin, { owner: 'flood' }).request({ method: 'GET', path: '/' });
    const response = await arrived;
    expect(() => busy.pool('https://b.example.com', { owner: 'flood' })).toThrow(
      expect.objectContaining({ code: 'upstream.unreachable' }),
    );
    expect(busy.pool('https://b.example.com', { owner: 'other' }).closed).toBe(false);
    response.end();
    await (await reply).body.dump();
  });

  it('is what it opens: whoever took a pool last is asked for the connection', () => {
    const owners: string[] = [];
    const made = createUpstreamPools({
      guard: {
        connector:
          ({ owner } = {}) =>
          (_target, callback) => {
            owners.push(owner?.() ?? '');
            callback(new Error('nothing is opened'), null);
          },
        lookUp: () => Promise.reject(new Error('nothing is looked up')),
      },
    });
    cleanups.push(() => made.close(0));
    for (const owner of ['a', 'b', 'a'])
      made
        .pool('http://llm.example.com', { owner })
        .request({ method: 'GET', path: '/' })
        .catch(() => undefined);
    expect(owners).toEqual(['a', 'b', 'a']);
  });

  it('connections of admins’ addresses are never those of callers’', () => {
    const made = pools();
    const origin = 'https://llm.example.com';
    expect(made.pool(origin, { by: 'admin' })).not.toBe(made.pool(origin, { by: 'caller' }));
    expect(made.pool(origin, { by: 'caller' })).toBe(made.pool(origin));
  });
});

describe('close', () => {
  it('lets a reply in flight end and takes no new request', async () => {
    const { origin, next } = await heldUpstream();
    const made = pools();
    const arrived = next();
    const reply = get(made, origin);
    const response = await arrived;
    const closed = made.close(60_000);
    expect(() => made.pool(origin)).toThrow(expect.objectContaining({ code: 'gateway.draining' }));
    response.end('whole');
    expect(await (await reply).body.text()).toBe('whole');
    await closed;
  });

  it('cuts what is left when the grace is over', async () => {
    const { origin, next } = await heldUpstream();
    const made = pools();
    const arrived = next();
    const outcome = get(made, origin).catch((error: Error) => error);
    await arrived;
    await made.close(10);
    expect(await outcome).toBeInstanceOf(Error);
  });
});
