import { Agent, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DnsServer, startDns } from '../outbound/dns-server.ts';
import { chatBody, chatReply, errorOf, type Scenario, startScenario } from '../scenario.ts';

/** Names that are never answered, and addresses that lead back into this installation. */
let scenario: Scenario;
let dns: DnsServer;
let upstream: Upstream;
let other: Upstream;
/** A key of another tenant. */
let otherKey = '';

/** The first gateway trusts loopback under every name; the second only what an operator would list. */
const trustsAll = 0;
const trustsFew = 1;

beforeAll(async () => {
  [upstream, other] = await Promise.all([startUpstream(), startUpstream()]);
  dns = await startDns((name, family) => {
    if (name.startsWith('slow')) return new Promise<readonly string[]>(() => undefined);
    return family === 4 ? ['127.0.0.1'] : [];
  });
  const everywhere = '127.0.0.0/8,0.0.0.0/8,::1,::,localhost,corp,example.com';
  const environment = { DNS_SERVERS: `127.0.0.1:${dns.port}` };
  scenario = await startScenario({
    gateways: 2,
    environment: {
      gateway: {
        ...environment,
        TRUSTED_CUSTOM_HOSTS: everywhere,
        TRUSTED_CALLER_HOSTS: everywhere,
      },
      'gateway-2': {
        ...environment,
        TRUSTED_CUSTOM_HOSTS: 'admins.example.com',
        TRUSTED_CALLER_HOSTS: `127.0.0.1:${upstream.port}`,
      },
    },
  });
  const { id } = await scenario.admin<{ id: string }>('POST', '/admin/workspaces', {
    name: 'another tenant',
  });
  const created = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'another tenant',
    workspace_id: id,
    scopes: ['completions.write'],
  });
  otherKey = created.key;
});
beforeEach(() => {
  for (const one of [upstream, other]) one.handle(json(200, chatReply));
});
afterAll(async () => {
  await scenario.stop();
  await Promise.all([upstream.close(), other.close()]);
  dns.close();
});

describe('the parts of this installation', () => {
  const ownPorts = () => {
    const { ports, gatewayUrls } = scenario.stack;
    const { demoUpstream: _, ...own } = ports;
    return [...new Set([...Object.values(own), ...gatewayUrls.map((url) => +new URL(url).port)])];
  };
  const interfaces = Object.values(networkInterfaces())
    .flatMap((of) => of ?? [])
    .filter(({ family }) => family === 'IPv4')
    .map(({ address }) => address);
  const spellings = [
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.254',
    '0.0.0.0',
    'localhost',
    'LocalHost',
    'app.localhost',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'points-here.corp',
    'points-here.example.com',
    ...interfaces,
  ];

  it.each([...new Set(spellings)])('are not called as %s, by header or config', async (host) => {
    for (const port of ownPorts()) {
      const url = `http://${host}:${port}`;
      const ways: Record<string, string>[] = [
        { 'x-service-provider': 'openai', 'x-service-custom-host': url },
        {
          'x-service-config': JSON.stringify({
            provider: 'openai',
            api_key: 'sk-x',
            custom_host: url,
          }),
        },
      ];
      for (const headers of ways) {
        const response = await scenario.call('/v1/proxy/metrics', {
          method: 'GET',
          gateway: trustsAll,
          host: null,
          headers,
        });
        const text = await response.clone().text();
        expect([response.status, (await errorOf(response)).code], `${url} ${text}`).toEqual([
          400,
          'host.invalid',
        ]);
      }
    }
  });

  it('are not called at addresses that admins save', async () => {
    for (const [index, host] of ['127.0.0.1', 'points-here.corp'].entries()) {
      const slug = `own-${index}`;
      await saveProvider(slug, `http://${host}:${scenario.stack.ports.controlPlane}`);
      const response = await scenario.chat({
        host: null,
        headers: { 'x-service-provider': `@${slug}` },
      });
      expect(await errorOf(response)).toMatchObject({ code: 'host.invalid' });
    }
  });

  it('are not called by the control plane for an admin', async () => {
    const { dataService, gateway } = scenario.stack.ports;
    for (const port of [dataService, gateway]) {
      const response = await scenario.call('/v1/mcp-integrations', {
        key: scenario.stack.credentials.admin_key,
        host: null,
        body: {
          name: `own ${port}`,
          url: `http://127.0.0.1:${port}/metrics`,
          auth_type: 'none',
          transport: 'http',
        },
      });
      expect(response.status, await response.clone().text()).toBe(400);
      expect(await response.text()).toContain('this installation itself');
    }
  });

  it('do not include the demo upstream', async () => {
    const saved = await scenario.chat({
      host: null,
      body: { ...chatBody, model: '@demo/gpt-4o-mini' },
    });
    expect(saved.status, await saved.text()).toBe(200);
    const named = await scenario.chat({ host: `${scenario.stack.demoUpstreamUrl}/v1` });
    expect(named.status, await named.text()).toBe(200);
  });
});

describe('trust', () => {
  const codeOf = async (response: Response) =>
    response.status === 200 ? 200 : (await errorOf(response)).code;

  it('of an entry with a port is for that port alone', async () => {
    const ask = (host: string) => scenario.chat({ gateway: trustsFew, host });
    expect(await codeOf(await ask(`http://127.0.0.1:${upstream.port}/v1`))).toBe(200);
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(await codeOf(await ask(`http://${host}:${other.port}/v1`))).toBe('host.invalid');
    expect(other.requests).toHaveLength(0);
  });

  it('of what an admin saved is no caller’s, nor are the connections opened with it', async () => {
    const url = `http://admins.example.com:${other.port}/v1`;
    await saveProvider('admins', url);
    const asSaved = () =>
      scenario.chat({
        gateway: trustsFew,
        host: null,
        headers: { 'x-service-provider': '@admins' },
      });
    expect(await codeOf(await asSaved())).toBe(200);
    // The connection is kept open; the caller's request would be served over it.
    expect(await codeOf(await scenario.chat({ gateway: trustsFew, host: url }))).toBe(
      'host.invalid',
    );
    const config = JSON.stringify({ provider: 'openai', api_key: 'sk-x', custom_host: url });
    const inConfig = await scenario.chat({
      gateway: trustsFew,
      host: null,
      headers: { 'x-service-config': config },
    });
    expect(await codeOf(inConfig)).toBe('host.invalid');
    expect(await codeOf(await asSaved())).toBe(200);
    expect(other.requests).toHaveLength(2);
  });
});

/** Last: what one tenant began still waits when the test is over. */
describe('names whose server never answers', () => {
  /** Begins so many calls to slow names with the first tenant's key, and gives the way to end them. */
  async function flood(count: number): Promise<() => Promise<void>> {
    const agent = new Agent({ keepAlive: false });
    const url = new URL(`${scenario.stack.gatewayUrls[trustsAll]}/v1/chat/completions`);
    let answers = 0;
    for (let index = 0; index < count; index += 1) {
      const call = request(url, {
        agent,
        method: 'POST',
        headers: {
          'x-service-api-key': scenario.stack.credentials.workspace_key,
          'x-service-provider': 'openai',
          'x-service-custom-host': `http://slow-${count}-${index}.corp:8000/v1`,
          'content-type': 'application/json',
        },
      });
      call.on('error', () => undefined);
      call.on('response', (reply) => {
        answers += 1;
        reply.resume();
      });
      call.end(JSON.stringify(chatBody));
    }
    await arrived(() => answers);
    // Most of them wait, or the test would show nothing.
    expect(answers).toBeLessThan(count);
    return async () => agent.destroy();
  }

  /** All of the flood has arrived: no new refusals come, and the gateway is quick again. */
  async function arrived(refusals: () => number): Promise<void> {
    for (let quiet = 0, tries = 0; quiet < 3 && tries < 60; tries += 1) {
      const before = refusals();
      const startedAt = performance.now();
      await (await fetch(`${scenario.stack.gatewayUrls[trustsAll]}/health`)).text();
      const isQuick = performance.now() - startedAt < 30;
      await delay(50);
      quiet = isQuick && refusals() === before ? quiet + 1 : 0;
    }
  }

  let names = 0;
  /** The other tenant calls an upstream that nobody has asked before. */
  async function askNewName(): Promise<void> {
    names += 1;
    const response = await scenario.chat({
      gateway: trustsAll,
      key: otherKey,
      host: `http://quick-${names}.corp:${upstream.port}/v1`,
    });
    expect(response.status, await response.text()).toBe(200);
  }

  /** How long that takes. */
  async function meanMs(): Promise<number> {
    const startedAt = performance.now();
    for (let i = 0; i < 9; i += 1) await askNewName();
    return (performance.now() - startedAt) / 9;
  }

  it.each([40, 2_000])('%i of one tenant keep no connection of another waiting', async (count) => {
    await askNewName();
    const usual = await meanMs();
    const end = await flood(count);
    try {
      const during = await meanMs();
      expect(during - usual, `usually ${usual} ms, during the flood ${during} ms`).toBeLessThan(
        100,
      );
    } finally {
      await end();
    }
  });
});

async function saveProvider(slug: string, customHost: string): Promise<void> {
  const { workspace_id } = scenario.stack.credentials;
  await scenario.admin('POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-saved',
    workspace_id,
    configurations: { custom_host: customHost },
    create_default_provider: true,
    default_provider_slug: slug,
  });
  for (const gateway of scenario.stack.gatewayUrls.keys())
    for (let tries = 0; tries < 100; tries += 1) {
      const probe = await scenario.chat({
        gateway,
        host: 'http://10.0.0.1',
        headers: { 'x-service-provider': `@${slug}` },
      });
      if ((await errorOf(probe)).code !== 'provider.not_found') break;
      await delay(20);
    }
}
