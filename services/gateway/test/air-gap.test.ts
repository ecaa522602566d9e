import { json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { byConfig, byHeader, OutboundLab, publicAddress } from './outbound/outbound-lab.ts';
import { chatBody, chatReply } from './scenario.ts';

/**
 * Gateways with AIRGAP=true, whose every connect is recorded and whose every
 * question for a name is heard. The second has a list of hosts as well.
 */
const listing = 1;

let lab: OutboundLab;
beforeAll(async () => {
  const trusted = '127.0.0.1,llm.corp';
  const more = { AIRGAP: 'true', TRUSTED_CUSTOM_HOSTS: trusted, TRUSTED_CALLER_HOSTS: '127.0.0.1' };
  lab = await OutboundLab.start(undefined, [
    more,
    { ...more, AIRGAP_HOSTS: '*.mirror.example,api.mistral.ai' },
  ]);
  const { workspace_id } = lab.scenario.stack.credentials;
  const save = (slug: string, ai_provider_id: string, configurations: object) =>
    lab.scenario.admin('POST', '/integrations', {
      name: slug,
      slug,
      ai_provider_id,
      key: 'sk-saved',
      workspace_id,
      configurations,
      create_default_provider: true,
      default_provider_slug: slug,
    });
  await save('vendor', 'openai', {});
  await save('own', 'openai', { custom_host: `${lab.upstream.url}/v1` });
  await save('elsewhere', 'openai', { custom_host: 'https://models.example.com/v1' });
  await save('azure', 'azure-openai', {
    azure_auth_mode: 'default',
    azure_resource_name: 'ours',
    azure_deployment_config: [
      {
        azure_deployment_name: 'd',
        azure_api_version: '2024-10-21',
        azure_model_slug: 'gpt-4o',
        is_default: true,
      },
    ],
  });
});
beforeEach(() => {
  lab.forget();
  lab.dns.asked.length = 0;
  lab.upstream.handle(json(200, chatReply));
});
afterAll(() => lab.stop());

const by = (slug: string) => ({ 'x-service-provider': `@${slug}` });
const nothingWasTried = () => {
  expect(lab.connections()).toEqual([]);
  expect(lab.dns.asked).toEqual([]);
};
/** Guardrails whose checks look elsewhere. */
const checking = (...checks: object[]) => ({
  'x-service-config': JSON.stringify({
    provider: '@own',
    before_request_hooks: [{ type: 'guardrail', id: 'g', checks, deny: false, async: false }],
  }),
});

describe('nothing is looked up or connected to for', () => {
  it.each([
    ['a vendor that a caller names', { 'x-service-provider': 'openai' }],
    ['a saved vendor without a host', by('vendor')],
    ['a vendor at a resource of an admin’s', by('azure')],
    ['a host that a caller names', byHeader('https://models.example.com/v1')],
    ['an address that a caller names', byHeader('https://8.8.8.8/v1')],
    ['a host in a caller’s config', byConfig({ custom_host: 'https://models.example.com/v1' })],
  ])('%s', async (_what, headers) => {
    for (const body of [chatBody, { ...chatBody, stream: true }]) {
      const answer = await lab.ask({ headers, body });
      expect([answer.status, answer.code], answer.text).toEqual([400, 'host.air_gapped']);
      expect(answer.text).toContain('AIRGAP=true');
    }
    nothingWasTried();
  });

  it('an admin’s host that the list lacks', async () => {
    const answer = await lab.ask({ gateway: listing, headers: by('elsewhere') });
    expect(answer.code, answer.text).toBe('host.air_gapped');
    nothingWasTried();
  });

  it('where a service account would be confirmed', async () => {
    const headers = {
      ...byHeader(`${lab.upstream.url}/v1`),
      'x-service-provider': 'vertex-ai',
      'x-service-vertex-service-account-json': JSON.stringify({
        client_email: 'a@b.example',
        private_key: (await import('node:crypto')).generateKeyPairSync('rsa', {
          modulusLength: 2048,
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
          publicKeyEncoding: { type: 'spki', format: 'pem' },
        }).privateKey,
      }),
      'x-service-vertex-project-id': 'p',
      'x-service-vertex-region': 'europe-west1',
    };
    const answer = await lab.ask({ headers, body: { ...chatBody, model: 'gemini-2.5-flash' } });
    expect(answer.text).toContain('oauth2.googleapis.com');
    expect(answer.code).toBe('host.air_gapped');
    nothingWasTried();
  });

  it('what checks of guardrails would ask', async () => {
    const body = {
      ...chatBody,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See https://models.example.com/x' },
            { type: 'image_url', image_url: { url: 'https://pictures.example.com/a.png' } },
          ],
        },
      ],
    };
    const headers = checking(
      { id: 'default.validUrls', parameters: {} },
      { id: 'default.validUrls', parameters: { onlyDNS: true } },
      { id: 'default.inlineImageUrls', parameters: {} },
      {
        id: 'mistral.moderateContent',
        parameters: { credentials: { apiKey: 'k' }, categories: ['pii'] },
      },
    );
    const answer = await lab.ask({ headers, body });
    expect(answer.status, answer.text).toBe(200);
    const { hook_results } = JSON.parse(answer.text) as {
      hook_results: { before_request_hooks: { checks: { error?: { name: string } }[] }[] };
    };
    expect(hook_results.before_request_hooks[0]?.checks.map(({ error }) => error?.name)).toEqual([
      'AirGapped',
      'AirGapped',
      'AirGapped',
      'AirGapped',
    ]);
    expect(lab.dns.asked).toEqual([]);
  });
});

describe('what is configured is called', () => {
  it('a trusted host, an admin’s host, and one that is listed, whoever names it', async () => {
    expect((await lab.ask({ headers: by('own') })).status).toBe(200);
    await lab.expectAllowed({ headers: by('elsewhere') }, `${publicAddress} 443`);
    lab.forget();
    const headers = byHeader('https://a.mirror.example/v1');
    await lab.expectAllowed({ gateway: listing, headers }, `${publicAddress} 443`);
  });

  it('a partner of guardrails that the operator listed', async () => {
    const check = {
      id: 'mistral.moderateContent',
      parameters: { credentials: { apiKey: 'k' }, categories: ['pii'] },
    };
    await lab.ask({ gateway: listing, headers: checking(check) });
    expect(lab.dns.asked).toContain('api.mistral.ai');
  });

  it('the next target, when the first is beyond', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@vendor' }, { provider: '@own' }],
    };
    const headers = { 'x-service-config': JSON.stringify(config) };
    const answer = await lab.ask({ headers });
    expect(answer.status, answer.text).toBe(200);
    const explained = await lab.ask({ path: '/v1/explain', headers });
    const { plan } = JSON.parse(explained.text) as { plan: { unavailable?: { code: string } }[] };
    expect(plan.map(({ unavailable }) => unavailable?.code)).toEqual([
      'host.air_gapped',
      undefined,
    ]);
    expect(lab.dns.asked).toEqual([]);
  });
});
