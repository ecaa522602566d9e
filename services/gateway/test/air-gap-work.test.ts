import { json, sse } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chatBody, chatReply, type Scenario, startScenario } from './scenario.ts';

/**
 * A whole installation behind an air gap, at work: what it is configured for is
 * served, and what it is not is refused at once. `npm run airgap` runs this for
 * ten minutes in a network without a way out, with every connect written down;
 * with SLUICE_AIRGAP=off, where the same work must be seen to look elsewhere.
 */
const isOn = process.env.SLUICE_AIRGAP !== 'off';
const seconds = Number(process.env.SLUICE_AIRGAP_SECONDS ?? '2');

let scenario: Scenario;
beforeAll(async () => {
  const common = { AIRGAP: String(isOn) };
  scenario = await startScenario({
    nats: true,
    redis: true,
    logStore: true,
    environment: {
      gateway: { ...common, TRUSTED_CUSTOM_HOSTS: '127.0.0.1', TRUSTED_CALLER_HOSTS: '127.0.0.1' },
      'control-plane': { ...common, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
      'data-service': common,
    },
  });
  await Promise.all([
    save('own', { custom_host: `${scenario.upstream.url}/v1` }),
    save('vendor', {}),
  ]);
});
afterAll(() => scenario.stop());

const save = (slug: string, configurations: object) =>
  scenario.admin('POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-saved',
    workspace_id: scenario.stack.credentials.workspace_id,
    configurations,
    create_default_provider: true,
    default_provider_slug: slug,
  });

const config = (value: object) => ({
  host: null,
  headers: { 'x-service-config': JSON.stringify(value) },
});
const own = config({ provider: '@own' });
const guarded = config({
  provider: '@own',
  before_request_hooks: [
    {
      type: 'guardrail',
      id: 'g',
      deny: false,
      async: false,
      checks: [
        { id: 'default.validUrls', parameters: { onlyDNS: true } },
        {
          id: 'mistral.moderateContent',
          parameters: { credentials: { apiKey: 'k' }, categories: ['pii'] },
        },
      ],
    },
  ],
});
const mentioning = {
  ...chatBody,
  messages: [{ role: 'user', content: 'Is https://models.example.com/x there?' }],
};

/** Each piece of work, and what it must come to. */
const work: [what: string, run: (round: number) => Promise<unknown>, expected: unknown][] = [
  ['a chat', async () => (await scenario.chat({ ...own })).status, 200],
  [
    'a stream',
    async () => {
      const reply = await scenario.chat({ ...own, body: { ...chatBody, stream: true } });
      await reply.text();
      return reply.status;
    },
    200,
  ],
  [
    'embeddings',
    async () =>
      (await scenario.call('/v1/embeddings', { ...own, body: { model: 'm', input: 'x' } })).status,
    200,
  ],
  [
    'guardrails of a partner',
    async () => (await scenario.chat({ ...guarded, body: mentioning })).status,
    // Off, there is no such URL, and the check says so.
    isOn ? 200 : 246,
  ],
  [
    'a saved vendor',
    async () => codeOf(await scenario.chat(config({ provider: '@vendor' }))),
    isOn ? 'host.air_gapped' : 'upstream.unreachable',
  ],
  [
    'a vendor of a caller',
    async () => codeOf(await scenario.chat(config({ provider: 'anthropic', api_key: 'k' }))),
    isOn ? 'host.air_gapped' : 'upstream.unreachable',
  ],
  [
    'the next target',
    async () =>
      (
        await scenario.chat(
          config({
            strategy: { mode: 'fallback' },
            targets: [{ provider: '@vendor' }, { provider: '@own' }],
          }),
        )
      ).status,
    200,
  ],
  ['explain', async () => (await scenario.call('/v1/explain', { ...own })).status, 200],
  ['the page of the API', async () => pageFaults(), []],
  [
    'an admin’s work',
    async (round) => {
      const { data } = await scenario.admin<{ data: { id: string } }>('POST', '/configs', {
        name: `round-${round}`,
        workspace_id: scenario.stack.credentials.workspace_id,
        config: { provider: '@own' },
      });
      await scenario.admin('DELETE', `/configs/${data.id}`);
      return (await scenario.ledgerTotal()) >= 0;
    },
    true,
  ],
];

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error?: { code?: string } }).error?.code ?? '';
}

/** What the page of the API would have a browser load from elsewhere. */
async function pageFaults(): Promise<string[]> {
  const page = await scenario.call('/docs', { method: 'GET', host: null });
  const text = await page.text();
  const loaded = [...text.matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"/g)];
  const elsewhere = loaded.flatMap(([, address = '']) =>
    /^([a-z]+:)?\/\//i.test(address) ? [address] : [],
  );
  return page.status === 200 ? elsewhere : [`status ${page.status}`];
}

it('works, and looks nowhere else', { timeout: (seconds + 60) * 1000 }, async () => {
  const end = Date.now() + seconds * 1000;
  for (let round = 0; round === 0 || Date.now() < end; round += 1) {
    for (const [what, run, expected] of work) {
      scenario.upstream.handle(
        what === 'a stream'
          ? sse(['data: {"choices":[]}\n\n', 'data: [DONE]\n\n'])
          : json(200, chatReply),
      );
      expect(await run(round), what).toEqual(expected);
    }
  }
});
