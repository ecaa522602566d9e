import { eventually, json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatReply, errorOf, type Scenario, startScenario } from '../scenario.ts';

/**
 * What stored-credentials.test.ts shows of the rule with a recorder in place of
 * connections, shown of all of Sluice as it runs: what an admin saves travels to
 * the gateway, what a caller says meets it there, and upstreams of ours say what
 * they got.
 */

const key = 'sk-stored-secret-0001';
const header = 'stored-header-secret-0002';

let scenario: Scenario;
/** A host of the caller's, and one that the admin lists with a path. */
let stranger: Upstream;
let branch: Upstream;
/** Saved configs with a key, one of them with a host. */
let savedConfig: string;
let hostlessConfig: string;

beforeAll(async () => {
  const reply = json(200, chatReply);
  [scenario, stranger, branch] = await Promise.all([
    startScenario(),
    startUpstream(reply),
    startUpstream(reply),
  ]);
  scenario.upstream.handle(reply);
  const custom_host = `${scenario.upstream.url}/v1`;
  const allowed = { allowed_custom_hosts: [`${branch.url}/team-a`] };
  await saveProvider('stored', 'openai', { custom_host, ...allowed });
  await saveProvider('foundry', 'azure-ai', { custom_host });
  await saveProvider('hugging', 'huggingface', { custom_host });
  hostlessConfig = await saveConfig('Hostless', { provider: 'openai', api_key: key });
  // Gateways that know the last know all.
  savedConfig = await saveConfig('Stored', { provider: 'openai', api_key: key, custom_host });
  for (const headers of [from('@stored'), from('@foundry'), from('@hugging')])
    await eventually(() => serves(headers));
  await eventually(() => serves({ 'x-service-config': savedConfig }));
});
beforeEach(() => {
  for (const upstream of [scenario.upstream, branch, stranger]) upstream.requests.length = 0;
});
afterAll(async () => {
  await scenario.stop();
  await Promise.all([stranger.close(), branch.close()]);
});

async function saveProvider(slug: string, provider: string, configurations: object) {
  const { workspace_slug } = scenario.stack.credentials;
  await scenario.admin('POST', '/integrations', {
    name: slug,
    slug,
    workspace_id: workspace_slug,
    ai_provider_id: provider,
    key,
    configurations: { custom_headers: { 'x-team': header }, ...configurations },
  });
}

async function saveConfig(name: string, config: object): Promise<string> {
  const { workspace_id } = scenario.stack.credentials;
  const body = { name, config, workspace_id };
  return (await scenario.admin<{ data: { slug: string } }>('POST', '/configs', body)).data.slug;
}

const from = (provider: string, more: Record<string, string> = {}) => ({
  'x-service-provider': provider,
  ...more,
});
const toHost = (url: string) => ({ 'x-service-custom-host': url });
const inline = (config: object) => ({ 'x-service-config': JSON.stringify(config) });
const proxied = '/v1/proxy/chat/completions';

const ask = (headers: Record<string, string>, path = '/v1/chat/completions') =>
  scenario.call(path, { host: null, headers });

async function codeOf(headers: Record<string, string>, path?: string): Promise<string> {
  const { status, code } = await errorOf(await ask(headers, path));
  return `${status} ${code}`;
}

const serves = async (headers: Record<string, string>) => (await ask(headers)).status === 200;
/** Which version of the API the last request asks for. */
const versionOf = ({ requests }: Upstream) =>
  new URL(requests.at(-1)?.path ?? '', 'http://upstream').searchParams.get('api-version');
const setOrganisation = (settings: object) =>
  scenario.admin('PUT', '/admin/organisation/settings', settings);

describe('a stored credential, in a running gateway', () => {
  it('reaches its own host with key and headers', async () => {
    for (const path of ['/v1/chat/completions', proxied])
      expect((await ask(from('@stored'), path)).status).toBe(200);
    expect(scenario.upstream.requests).toHaveLength(2);
    for (const { headers } of scenario.upstream.requests)
      expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-team': header });
  });

  it('is refused for a host that the request names, by whatever way it does', async () => {
    const host = `${stranger.url}/v1`;
    const around = { targets: [{ config: savedConfig }] };
    const notAllowed = '400 host.not_allowed';
    for (const path of ['/v1/chat/completions', proxied])
      for (const [way, headers, expected] of [
        ['a header', from('@stored', toHost(host)), notAllowed],
        ['an inline config', inline({ provider: '@stored', custom_host: host }), notAllowed],
        [
          'an inline target',
          inline({ targets: [{ provider: '@stored', custom_host: host }] }),
          notAllowed,
        ],
        [
          'the config that a target stands in',
          inline({ custom_host: host, targets: [{ provider: '@stored' }] }),
          notAllowed,
        ],
        [
          'a header beside a saved config',
          { 'x-service-config': savedConfig, ...toHost(host) },
          notAllowed,
        ],
        [
          'an inline config around a saved one',
          inline({ custom_host: host, targets: [{ config: hostlessConfig }] }),
          notAllowed,
        ],
        ['a header around a saved config', { ...inline(around), ...toHost(host) }, notAllowed],
        [
          'a key of its own',
          inline({ provider: '@stored', api_key: 'sk-callers' }),
          '400 credential.mixed',
        ],
        [
          'an address among the settings',
          from('@foundry', { 'x-service-azure-foundry-url': host }),
          '400 credential.mixed',
        ],
        [
          'another address among the settings',
          from('@hugging', { 'x-service-huggingface-base-url': host }),
          '400 credential.mixed',
        ],
      ] as const)
        expect([path, way, await codeOf(headers, path)]).toEqual([path, way, expected]);
    // What a saved config says of its host, wins over what it is inlined into.
    expect((await ask(inline({ custom_host: host, ...around }))).status).toBe(200);
    expect(scenario.upstream.requests).toHaveLength(1);
    expect(stranger.requests).toEqual([]);
  });

  it('reaches a host that an admin listed, there and below, and nothing beside it', async () => {
    const listed = `${branch.url}/team-a`;
    for (const host of [listed, `${listed}/v1`])
      for (const headers of [
        from('@stored', toHost(host)),
        inline({ provider: '@stored', custom_host: host }),
      ])
        expect((await ask(headers)).status).toBe(200);
    expect(branch.requests).toHaveLength(4);
    for (const { headers, path } of branch.requests) {
      expect(headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-team': header });
      expect(path).toMatch(/^\/team-a\/(?:v1\/)?chat\/completions$/);
    }
    for (const host of [
      branch.url,
      `${branch.url}/team-b`,
      `${branch.url}/team-ab`,
      `${listed}/../team-b`,
      `${listed}/%2e%2e/team-b`,
      listed.replace('http:', 'https:'),
      listed.replace('127.0.0.1', 'localhost'),
      `${stranger.url}/team-a`,
    ])
      expect([host, await codeOf(from('@stored', toHost(host)))]).toEqual([
        host,
        '400 host.not_allowed',
      ]);
    expect(branch.requests).toHaveLength(4);
    expect(stranger.requests).toEqual([]);
  });

  it('goes anywhere while the organisation says so, and from then on not', async () => {
    const headers = from('@stored', toHost(`${stranger.url}/v1`));
    expect(await codeOf(headers)).toBe('400 host.not_allowed');
    await setOrganisation({ stored_credentials: { allow_any_custom_host: true } });
    await eventually(() => serves(headers));
    expect(stranger.requests).toHaveLength(1);
    expect(stranger.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'x-team': header,
    });
    await setOrganisation({ stored_credentials: { allow_any_custom_host: false } });
    await eventually(async () => (await codeOf(headers)) === '400 host.not_allowed');
    const count = stranger.requests.length;
    expect(await codeOf(headers, proxied)).toBe('400 host.not_allowed');
    expect(stranger.requests).toHaveLength(count);
  });

  it('is not used where its provider would hand out another one', async () => {
    const paths = ['live/sessions', 'webhook_endpoints', 'v1alpha/auth_tokens', 'projects/p/keys'];
    for (const path of [
      ...paths.map((rest) => `/v1/proxy/${rest}`),
      '/v1/live/sessions',
      '/v1//live//sessions/',
      '/v1/Live/s%65ssions',
    ]) {
      for (const headers of [from('@stored'), { 'x-service-config': savedConfig }])
        expect([path, await codeOf(headers, path)]).toEqual([path, '403 credential.handed_out']);
      expect(scenario.upstream.requests, path).toEqual([]);
    }
    // Who brings a credential may have another one.
    const own = inline({
      provider: 'openai',
      api_key: 'sk-own',
      custom_host: `${stranger.url}/v1`,
    });
    for (const path of ['/v1/live/sessions', '/v1/proxy/live/sessions'])
      expect((await ask(own, path)).status).toBe(200);
    expect(stranger.requests.map(({ path }) => path)).toEqual([
      '/v1/live/sessions',
      '/v1/live/sessions',
    ]);
    // Of realtime the gateway has secrets of its own.
    const minted = await scenario.call('/v1/realtime/client_secrets', {
      host: null,
      headers: from('@stored'),
      body: { session: { type: 'realtime', model: 'gpt-realtime' } },
    });
    expect(await minted.json()).toMatchObject({ value: expect.stringMatching(/^ek_sluice_/) });
    expect(scenario.upstream.requests).toEqual([]);
  });

  it('in saved-only mode takes no address from a header, and hears no option', async () => {
    const option = from('@foundry', { 'x-service-azure-api-version': '2099-callers' });
    expect((await ask(option)).status).toBe(200);
    expect(versionOf(scenario.upstream)).toBe('2099-callers');

    const host = `${stranger.url}/v1`;
    // It wins over the setting that opens all hosts.
    await setOrganisation({
      stored_credentials: { allow_any_custom_host: true },
      data_plane_security_settings: { block_inline_config: true },
    });
    const byHost = from('@stored', toHost(host));
    await eventually(async () => (await codeOf(byHost)) === '400 inline_custom_host_blocked');
    stranger.requests.length = 0;
    for (const path of ['/v1/chat/completions', proxied])
      for (const [headers, expected] of [
        [byHost, 'inline_custom_host_blocked'],
        [from('@foundry', { 'x-service-azure-foundry-url': host }), 'inline_provider_url_blocked'],
        [
          from('@hugging', { 'x-service-huggingface-base-url': host }),
          'inline_provider_url_blocked',
        ],
        [
          from('@stored', { 'x-service-databricks-workspace': 'stranger' }),
          'inline_provider_url_blocked',
        ],
        [inline({ provider: '@stored', custom_host: host }), 'inline_config_blocked'],
        [{ 'x-service-config': savedConfig, ...toHost(host) }, 'inline_custom_host_blocked'],
      ] as const)
        expect(await codeOf(headers, path)).toBe(`400 ${expected}`);
    expect((await ask(option)).status).toBe(200);
    expect(versionOf(scenario.upstream)).toBeNull();
    expect(scenario.upstream.requests).toHaveLength(2);
    expect(scenario.upstream.requests[1]?.headers['x-team']).toBe(header);
    expect(stranger.requests).toEqual([]);
    await setOrganisation({ stored_credentials: null, data_plane_security_settings: null });
  });
});
