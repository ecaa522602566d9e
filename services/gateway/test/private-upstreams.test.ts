import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { eventually, json, testCertificate } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

const identity = {
  tls_ca: testCertificate('authority'),
  tls_cert: testCertificate('client'),
  tls_key: testCertificate('client-key'),
};

const callers: string[] = [];
const upstream = createServer(
  {
    key: testCertificate('server-key'),
    cert: testCertificate('server'),
    ca: identity.tls_ca,
    requestCert: true,
    rejectUnauthorized: false,
  },
  (req, res) => {
    const socket = req.socket as TLSSocket;
    callers.push(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'nobody');
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(chatReply));
    });
  },
);
const tunnels: string[] = [];
const proxy = createHttpServer();
proxy.on('connect', (req, client: Socket) => {
  tunnels.push(req.url ?? '');
  const link = connect((upstream.address() as AddressInfo).port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    link.pipe(client).pipe(link);
  });
  for (const socket of [link, client]) socket.on('error', () => client.destroy());
});

let scenario: Scenario;
let port = 0;
beforeAll(async () => {
  for (const server of [upstream, proxy])
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  port = (upstream.address() as AddressInfo).port;
  const proxyPort = (proxy.address() as AddressInfo).port;
  scenario = await startScenario({
    environment: {
      gateway: {
        HTTPS_PROXY: `http://user:secret@127.0.0.1:${proxyPort}`,
        NO_PROXY: 'localhost',
      },
    },
  });
  await saveProvider('private', { custom_host: `https://localhost:${port}/v1`, ...identity });
  await saveProvider('proxied', { custom_host: 'https://llm.example.com/v1', ...identity });
  await saveProvider('unknown', { custom_host: `https://localhost:${port}/v1` });
});
afterAll(async () => {
  await scenario.stop();
  for (const server of [upstream, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});

async function saveProvider(slug: string, configurations: object): Promise<void> {
  const manage = async (path: string, body: object) => {
    const response = await scenario.call(`/v1${path}`, { host: null, body });
    expect(response.status).toBe(200);
  };
  await manage('/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-private',
    configurations,
    create_default_provider: false,
  });
  await manage('/providers', { name: slug, slug, integration_id: slug });
  await eventually(async () => {
    const { code } = await errorOf(await ask(slug, { 'x-service-custom-host': 'http://10.0.0.1' }));
    if (code === 'provider.not_found') throw new Error('not known yet');
  });
}

const ask = (slug: string, headers: Record<string, string> = {}) =>
  scenario.chat({
    host: null,
    body: chatBody,
    headers: { 'x-service-provider': `@${slug}`, ...headers },
  });

describe('a saved provider', () => {
  it('with a TLS identity is reached at a private upstream, which knows us', async () => {
    const response = await ask('private');
    expect([response.status, callers.at(-1)]).toEqual([200, 'sluice gateway']);
    expect(tunnels).toEqual([]);
  });

  it('is reached through the proxy, with its TLS identity', async () => {
    const response = await ask('proxied');
    expect([response.status, callers.at(-1)]).toEqual([200, 'sluice gateway']);
    expect(tunnels).toEqual(['llm.example.com:443']);
  });

  it('without an identity does not trust such an upstream, whatever a caller sends', async () => {
    const before = callers.length;
    for (const headers of [{}, { 'x-service-tls-ca': identity.tls_ca.replaceAll('\n', '\\n') }]) {
      const response = await ask('unknown', headers as Record<string, string>);
      expect(await errorOf(response)).toMatchObject({ code: 'upstream.unreachable' });
    }
    expect(callers.length).toBe(before);
  });
});

describe('Anthropic', () => {
  it('gets a subscription’s token as it is, and the service key never', async () => {
    scenario.upstream.handle(json(200, { type: 'message', content: [] }));
    const count = scenario.upstream.requests.length;
    for (const path of ['/v1/messages', '/v1/proxy/messages'])
      await scenario.call(path, {
        body: { model: 'claude', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] },
        headers: {
          'x-service-provider': 'anthropic',
          authorization: 'Bearer sk-ant-oat01-token',
          'x-api-key': scenario.stack.credentials.workspace_key,
        },
      });
    const requests = scenario.upstream.requests.slice(count);
    expect(requests).toHaveLength(2);
    for (const { headers } of requests) {
      expect(headers.authorization).toBe('Bearer sk-ant-oat01-token');
      expect(headers['x-api-key']).toBeUndefined();
    }
  });
});
