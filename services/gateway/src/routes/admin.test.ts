import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canonicalHeaderPrefixes } from '@sluice/contracts';
import { adminEndpoints, type Endpoint } from '@sluice/contracts/admin';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AppDeps, createApp } from '../app.ts';
import { createAdminForwarder } from './admin.ts';

/** An app that says only where a request went. */
const deps: Partial<AppDeps> = {
  headerPrefixes: canonicalHeaderPrefixes,
  forwardAdmin: (req, res) => void res.end(`control plane: ${req.originalUrl}`),
  pipelines: {} as AppDeps['pipelines'],
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

describe('createAdminForwarder', () => {
  it('tells the control plane where the caller was, which may have been at a proxy of ours', async () => {
    const controlPlane = createServer((req, res) => res.end(JSON.stringify(req.headers)));
    controlPlane.listen(0, '127.0.0.1');
    await once(controlPlane, 'listening');
    const { port } = controlPlane.address() as AddressInfo;
    const forwarder = createAdminForwarder(`http://127.0.0.1:${port}`, canonicalHeaderPrefixes);
    const gateway = createServer(forwarder.forward);
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const host = `127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    const heard = async (headers: Record<string, string>) =>
      (await fetch(`http://${host}/v1/admin/users`, { headers })).json();
    expect(await heard({})).toMatchObject({
      'x-forwarded-host': host,
      'x-forwarded-proto': 'http',
    });
    const proxied = { 'x-forwarded-host': 'sluice.example', 'x-forwarded-proto': 'https' };
    expect(await heard(proxied)).toMatchObject(proxied);
    gateway.close();
    controlPlane.close();
    await forwarder.close();
  });
});
