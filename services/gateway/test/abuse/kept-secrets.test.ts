import { freshName, json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from '../scenario.ts';

let scenario: Scenario;
/** A host of somebody who may change the integration, and is shown none of its secrets. */
let stranger: Upstream;
beforeAll(async () => {
  [scenario, stranger] = await Promise.all([startScenario(), startUpstream(json(200, chatReply))]);
  scenario.upstream.handle(json(200, chatReply));
});
afterAll(() => Promise.all([scenario.stop(), stranger.close()]));

it('sends no stored secret to a host that was put beside it', async () => {
  const { stack, upstream, chat, admin } = scenario;
  const { workspace_key: key, workspace_slug } = stack.credentials;
  const secrets = { key: 'sk-kept-secret-0001', header: 'kept-header-secret-0002' };
  const slug = freshName('kept');
  await admin('POST', '/integrations', {
    name: 'Kept',
    slug,
    workspace_id: workspace_slug,
    ai_provider_id: 'openai',
    key: secrets.key,
    configurations: {
      custom_host: `${upstream.url}/v1`,
      custom_headers: { 'x-team': secrets.header },
    },
  });
  const change = async (path: string, body: object) => {
    const answer = await fetch(`${stack.gatewayUrls[0]}/v1${path}`, {
      method: 'PUT',
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { data?: { code?: string } }).data?.code;
  };
  const host = { custom_host: `${stranger.url}/v1` };
  const model = { slug: 'gpt-4o-mini', enabled: true, configurations: host };
  for (const [path, body, code] of [
    [`/integrations/${slug}`, { configurations: host }, 'admin.secret_required'],
    [`/integrations/${slug}/models`, { models: [model] }, 'admin.secret_required'],
    // Its credentials are the integration's, and changed there.
    [`/virtual-keys/${slug}`, { customHost: host.custom_host }, 'admin.refused'],
  ] as const)
    expect([path, await change(path, body)]).toEqual([path, code]);
  const answer = await chat({ host: null, headers: { 'x-service-provider': `@${slug}` } });
  expect(answer.status).toBe(200);
  expect(upstream.requests.at(-1)?.headers).toMatchObject({
    authorization: `Bearer ${secrets.key}`,
    'x-team': secrets.header,
  });
  expect(stranger.requests).toEqual([]);
});
