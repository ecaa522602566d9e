import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { canonicalHeaderPrefixes, forwardedCallerSeal } from '@sluice/contracts';
import { adminEndpoints, type Endpoint } from '@sluice/contracts/admin';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AppDeps, createApp } from '../app.ts';
import { createReadArrival } from '../http/arrival.ts';
import { createAdminForwarder } from './admin.ts';

/** An app that says only where a request went. */
const deps: Partial<AppDeps> = {
  headerPrefixes: canonicalHeaderPrefixes,
  forwardAdmin: (req, res) => void res.end(`control plane: ${req.originalUrl}`),
  pipelines: { realtime: {} } as AppDeps['pipelines'],
};
const server = createServer(createApp(deps as AppDeps));
let origin: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${origin}${path}`, { method: method.toUpperCase(), headers });
  return answer.text();
}

const published = Object.values<Endpoint>(adminEndpoints)
  // The rest of the data plane is the gateway's own.
  .filter(({ plane, atRoot }) => plane !== 'data' || atRoot === true)
  .map(({ method, path, atRoot }): [string, string] => [
    method,
    `${atRoot === true ? '' : '/v1'}${path.replace(/\{[^}]+\}/g, 'x')}`,
  ]);

describe('what the control plane answers', () => {
  it.each([
    ...published,
    ['get', '/v1/log/exports'],
    ['post', '/v1/log/exports/x/start'],
    ['get', '/v1/openapi.json'],
    ['get', '/v1/docs'],
    ['get', '/v1/model-configs/pricing/openai/gpt-4o'],
    ['get', '/v1/v0.1/servers'],
    ['get', '/docs'],
    ['get', '/docs/start.js'],
  ])('%s %s is passed on as it came', async (method, path) => {
    expect(await send(method, `${path}?a=%2B`)).toBe(`control plane: ${path}?a=%2B`);
  });

  it('includes feedback of a client that names a provider in all its calls', async () => {
    const headers = { 'x-service-virtual-key': 'main', 'x-service-config': 'pc-main' };
    expect(await send('post', '/v1/feedback', headers)).toBe('control plane: /v1/feedback');
  });

  it.each(['/docsx', '/DOCS', '/v0.1', '/v0.1/other', '/model-configsx', '/admin/workspaces'])(
    '%s is nobody’s',
    async (path) => {
      expect(await send('get', path)).toContain('request.route_not_found');
    },
  );
});

it('the admin API may be left off the port of callers, but for what they need', async () => {
  const without = createServer(createApp({ ...deps, adminApi: 'elsewhere' } as AppDeps));
  without.listen(0, '127.0.0.1');
  await once(without, 'listening');
  const base = `http://127.0.0.1:${(without.address() as AddressInfo).port}`;
  const ask = async (path: string) => (await fetch(base + path, { method: 'POST' })).text();
  for (const path of ['/v1/api-keys', '/v1/openapi.json', '/v1/docs', '/docs', '/docs/start.js'])
    expect(await ask(path)).toContain('ADMIN_API_ON_GATEWAY');
  for (const path of [
    '/v1/feedback',
    '/v1/otel/v1/traces',
    '/v1/model-configs/pricing/openai/gpt-4o',
    '/oauth/token',
    '/.well-known/x',
  ])
    expect(await ask(path)).toBe(`control plane: ${path}`);
  without.close();
});

describe('createAdminForwarder', () => {
  const seal = forwardedCallerSeal('a-token-shared-by-the-services');

  const held = { connected: true, catchUp: async () => true };

  const forwarderTo = (
    base: string,
    over: Partial<Parameters<typeof createAdminForwarder>[0]> = {},
  ) =>
    createAdminForwarder({
      controlPlaneUrl: `http://${base}`,
      prefixes: canonicalHeaderPrefixes,
      seal,
      held,
      readArrival: createReadArrival([]),
      ...over,
    });

  /** Asks a gateway with these proxies in front; what its control plane was sent. */
  async function heard(path: string, headers: Record<string, string>, trustedProxies: string[]) {
    const controlPlane = await listening((req, res) =>
      res.end(JSON.stringify({ url: req.url, headers: req.headers })),
    );
    const forwarder = forwarderTo(`${controlPlane.host}/base`, {
      readArrival: createReadArrival(trustedProxies),
    });
    const gateway = await listening(forwarder.forward);
    try {
      const [name = '', port = ''] = gateway.host.split(':');
      const answer = request({ host: name, port, path, headers }).end();
      const [reply] = (await once(answer, 'response')) as [IncomingMessage];
      const body = JSON.parse(await text(reply));
      return { status: reply.statusCode, host: gateway.host, ...body };
    } finally {
      for (const { server } of [gateway, controlPlane]) server.close();
      await forwarder.close();
    }
  }

  async function listening(handle: RequestListener) {
    const server = createServer(handle).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  const claims = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'sluice.example',
    'x-forwarded-proto': 'https',
    'x-real-ip': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
    'x-sluice-forwarded-caller': 'forged',
  };

  it('states where the caller was, signed; what callers claim themselves is not passed on', async () => {
    const { headers, host } = await heard('/v1/admin/users', claims, []);
    const where = { address: '127.0.0.1', host, proto: 'http' };
    expect(seal.read(headers['x-sluice-forwarded-caller'], Date.now())).toMatchObject(where);
    expect(headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': host });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['forwarded']));
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-real-ip']));
  });

  it('believes a proxy that is listed', async () => {
    const { headers } = await heard('/v1/admin/users', claims, ['127.0.0.0/8']);
    const where = { address: '203.0.113.9', host: 'sluice.example', proto: 'https' };
    expect(seal.read(headers['x-sluice-forwarded-caller'], Date.now())).toMatchObject(where);
  });

  it.each([
    '/v1/configs/../../metrics',
    '/v1/configs/%2e%2E/x',
    '/v1/configs/.%2e/x',
    '/v1/configs/./x',
    '/v1/configs//x',
    '/v1/configs/..;/x',
    '/v1/configs/x;a=b',
    '/v1/configs/..\\x',
    '/v1/configs/x%5c..%5cmetrics',
    '/v1/configs/a%2fb',
    '/v1/configs/..%2f..%2fmetrics',
    '/v1/configs/%252e%252e/x',
    '/v1/configs/x%00',
    '/v1/configs/x%0d%0aa',
    '/docs/../metrics',
    '/v0.1/servers/a%2f..%2fb',
    '/v1/analytics/groups/metadata/a%2f..%2f..%2fb',
    '/v1/analytics/groups/model%2fb',
    'http://elsewhere/v1/configs/../x',
  ])('refuses %s, which may lead elsewhere behind us', async (path) => {
    expect(await heard(path, {}, [])).toMatchObject({
      status: 400,
      data: { code: 'request.invalid_field', field: 'path' },
    });
  });

  it.each([
    '/v1/configs/pc-1?a=..%2f..%2f&b=//;',
    '/v1/prompts/a.b..c/versions/',
    '/v1/users/a%40b.example',
    '/v0.1/servers/io.example%2Fserver/versions',
    '/v1/analytics/groups/metadata/team%2Fname?page_size=1',
  ])('passes %s on as it is', async (path) => {
    expect(await heard(path, {}, [])).toMatchObject({ status: 200, url: `/base${path}` });
  });

  const workspace = '0b9a4c1e-0000-4000-8000-000000000001';

  it.each([
    ['everywhere', { connected: true, isHere: false }, 'everywhere', 0],
    ['everywhere', { connected: false, isHere: true }, 'here', 1],
    ['pending', { connected: true, isHere: true }, 'here', 1],
    ['pending', { connected: false, isHere: false }, 'pending', 1],
  ] as const)(
    'a change that is in force %s, at a gateway that is %j, is answered as %s',
    async (told, { connected, isHere }, expected, waits) => {
      const controlPlane = await listening((_req, res) => {
        res.setHeader('x-service-changed', `workspace=${workspace}@7`);
        res.setHeader('x-service-in-force', told);
        res.end('{}');
      });
      const asked: unknown[] = [];
      const forwarder = forwarderTo(controlPlane.host, {
        held: {
          connected,
          catchUp: async (changes) => {
            asked.push(...changes);
            return isHere;
          },
        },
      });
      const gateway = await listening(forwarder.forward);
      try {
        const answer = await fetch(`http://${gateway.host}/v1/configs`, { method: 'POST' });
        expect(answer.headers.get('x-service-in-force')).toBe(expected);
        expect(answer.headers.get('x-service-changed')).toBe(`workspace=${workspace}@7`);
        expect(asked).toEqual(Array(waits).fill({ workspace, revision: '7' }));
      } finally {
        for (const { server } of [gateway, controlPlane]) server.close();
        await forwarder.close();
      }
    },
  );

  it('says of a change that was sent and not answered that it may have been made, and of nothing else', async () => {
    const controlPlane = await listening(
      (req) => void req.resume().once('end', () => req.socket.destroy()),
    );
    const forwarder = forwarderTo(controlPlane.host);
    const gateway = await listening(forwarder.forward);
    const told = async (method: string) => {
      const body = method === 'GET' ? undefined : '{}';
      const answer = await fetch(`http://${gateway.host}/v1/configs`, { method, body });
      const { data } = (await answer.json()) as { data: { code: string; message: string } };
      expect([answer.status, data.code]).toEqual([503, 'admin.control_plane_unavailable']);
      return /may have been made/.test(data.message);
    };
    try {
      expect([await told('GET'), await told('POST'), await told('DELETE')]).toEqual([
        false,
        true,
        true,
      ]);
      controlPlane.server.close();
      controlPlane.server.closeAllConnections();
      expect(await told('POST')).toBe(false);
    } finally {
      gateway.server.close();
      await forwarder.close();
    }
  });

  it('lets nothing wait behind questions to a ledger that is silent', async () => {
    const controlPlane = await listening((req, res) => {
      if (req.url !== '/v1/configs' && req.method !== 'POST') return;
      res.end('{}');
    });
    const forwarder = forwarderTo(controlPlane.host);
    const gateway = await listening(forwarder.forward);
    const asked = new AbortController();
    try {
      const questions = ['analytics/graphs/cost', 'logs', 'logs/x', 'requests/x', 'traces/x'];
      for (let count = 0; count < 200; count += 1)
        fetch(`http://${gateway.host}/v1/${questions[count % questions.length]}`, {
          signal: asked.signal,
        }).catch(() => {});
      await eventually(async () => (await connectionsOf(controlPlane.server)) >= 128);
      const oneMore = await fetch(`http://${gateway.host}/v1/analytics/graphs/cost`);
      expect(oneMore.status).toBe(503);
      expect(oneMore.headers.get('retry-after')).toBe('5');
      expect(await oneMore.json()).toMatchObject({ data: { code: 'admin.analytics_busy' } });
      const record = await fetch(`http://${gateway.host}/v1/logs`, { method: 'POST', body: '{}' });
      expect(record.status).toBe(200);
      const answer = await fetch(`http://${gateway.host}/v1/configs`, {
        signal: AbortSignal.timeout(5_000),
      });
      expect(answer.status).toBe(200);
    } finally {
      asked.abort();
      await forwarder.close();
      for (const { server } of [gateway, controlPlane]) {
        server.closeAllConnections();
        server.close();
      }
    }
  });
});

function connectionsOf(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}
