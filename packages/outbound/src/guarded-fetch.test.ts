import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuardedFetch } from './guarded-fetch.ts';
import { makeHostRules } from './host-rules.ts';
import { hostileUrls } from './hostile-urls.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const enough = { timeoutMs: 5_000, bytesMax: 1_000 };

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function fetcher(trusted: string[] = ['127.0.0.1'], lookedUp = '127.0.0.1') {
  const fetch = createGuardedFetch({
    rules: makeHostRules({ trusted, production: true }),
    lookup: async () => [{ address: lookedUp, family: 4 }],
  });
  cleanups.push(() => fetch.close());
  return fetch;
}

describe('createGuardedFetch', () => {
  it('sends method, headers and body, and gives the whole reply', async () => {
    const origin = await listen(async (req, res) => {
      const body = await req.setEncoding('utf8').reduce((all, part) => all + part, '');
      res
        .writeHead(201, {
          'x-seen': `${req.method} ${req.url} ${req.headers.accept} ${req.headers['accept-encoding']}`,
        })
        .end(body);
    });
    const reply = await fetcher()(`${origin}/a?b=c`, {
      ...enough,
      method: 'POST',
      headers: { accept: 'text/plain' },
      body: 'héllo',
    });
    expect([reply.status, reply.headers['x-seen'], reply.body.toString()]).toEqual([
      201,
      'POST /a?b=c text/plain identity',
      'héllo',
    ]);
  });

  it('shows a redirect and does not follow it', async () => {
    const asked: (string | undefined)[] = [];
    const origin = await listen((req, res) => {
      asked.push(req.url);
      res.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect((await fetcher()(origin, enough)).status).toBe(302);
    expect(asked).toEqual(['/']);
  });

  it('reads no more than is allowed, whatever length was announced', async () => {
    const origin = await listen((req, res) => {
      if (req.url === '/announced') res.writeHead(200, { 'content-length': 1_001 });
      res.end('x'.repeat(1_001));
    });
    const fetch = fetcher();
    for (const path of ['/announced', '/chunked'])
      await expect(fetch(`${origin}${path}`, enough)).rejects.toMatchObject({
        code: 'upstream.response_too_large',
      });
  });

  it.each([
    ['sends no head', () => undefined],
    ['stops in its body', (res: { write(text: string): void }) => res.write('x')],
  ])('gives up on a host that %s when time is over', async (_, answer) => {
    const origin = await listen((_req, res) => void answer(res));
    await expect(fetcher()(origin, { ...enough, timeoutMs: 50 })).rejects.toMatchObject({
      code: 'upstream.timeout',
    });
  });

  it('says that a host is away', async () => {
    const origin = await listen(() => undefined);
    for (const cleanup of cleanups.splice(0)) await cleanup();
    await expect(fetcher()(origin, enough)).rejects.toMatchObject({ code: 'upstream.unreachable' });
  });

  it('refuses every hostile spelling, naming where it was written', async () => {
    const fetch = fetcher([]);
    for (const url of hostileUrls)
      await expect(fetch(url, { ...enough, field: 'jwt.jwks_url' })).rejects.toMatchObject({
        code: 'host.invalid',
        field: 'jwt.jwks_url',
      });
  });

  it('refuses a public name that resolves to a private address', async () => {
    await expect(fetcher([], '10.0.0.1')('http://keys.example.com', enough)).rejects.toMatchObject({
      code: 'host.invalid',
    });
  });
});
