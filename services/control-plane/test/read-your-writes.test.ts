import { json, startUpstream, type Upstream } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGateway } from './support/gateway-process.ts';
import { type ControlPlane, type Harness, startHarness } from './support/harness.ts';

/**
 * How many times each thing is created, changed, deleted and used. 1,000 takes
 * some ten minutes: READ_YOUR_WRITES_ROUNDS=1000.
 */
const rounds = Number(process.env.READ_YOUR_WRITES_ROUNDS ?? 6);

let h: Harness;
let upstream: Upstream;
let replicas: ControlPlane[];
let gateways: GatewayProcess[];

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.handle(json(200, { id: 'x', object: 'chat.completion', model: 'm', choices: [] }));
  h = await startHarness();
  replicas = [h.service, await h.replica(), await h.replica()];
  gateways = await Promise.all(replicas.map((replica) => startGateway(h, replica)));
  // Each holds the workspace and the key, as a gateway does that is in use.
  for (let turn = 0; turn < 3; turn += 1) await chat({ 'x-service-config': 'pc-none' });
}, 30_000);
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.stop()));
  await h.stop();
  await upstream.close();
});

let turns = 0;
/** A gateway after the other: none is asked twice in a row. */
function nextGateway(): string {
  turns += 1;
  return gateways[turns % gateways.length]?.url ?? '';
}

async function manage(method: string, path: string, body?: object) {
  const answer = await fetch(`${nextGateway()}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return { body: JSON.parse(text), inForce: answer.headers.get('x-service-in-force') };
}

async function post(path: string, body?: object) {
  const { body: made, inForce } = await manage('POST', path, body);
  // Nobody can have asked for a new key, so nobody has to be told.
  if (!path.startsWith('/api-keys')) expect(inForce).toBe('everywhere');
  return made;
}

/** What became of a request: the path the upstream was asked at, or the code it was refused with. */
async function chat(headers: Record<string, string>, key = h.first.workspace_key) {
  const answer = await fetch(`${nextGateway()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
  });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return error === undefined ? upstream.requests.at(-1)?.path : error.code;
}

async function rendered(slug: string) {
  const answer = await fetch(`${nextGateway()}/v1/prompts/${slug}/render`, {
    method: 'POST',
    headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
    body: '{"variables":{}}',
  });
  const body = (await answer.json()) as {
    data?: { messages?: { content: string }[] };
    error?: { code: string };
  };
  return body.error?.code ?? JSON.stringify(body.data?.messages);
}

const at = (path: string) => ({
  provider: 'openai',
  custom_host: `${upstream.url}/${path}`,
  api_key: 'sk-x',
});

describe('an answered change is what the next request sees, at another gateway', () => {
  const all = Array.from({ length: rounds }, (_, round) => round);

  it(
    'of a config',
    async () => {
      for (const round of all) {
        const { slug, id } = (await post('/configs', { name: `c${round}`, config: at('one') }))
          .data as { slug: string; id: string };
        const used = () => chat({ 'x-service-config': round % 2 === 0 ? slug : id });
        expect(await used(), `created ${round}`).toBe('/one/chat/completions');
        await manage('PUT', `/configs/${slug}`, { config: at('two') });
        expect(await used(), `changed ${round}`).toBe('/two/chat/completions');
        await manage('DELETE', `/configs/${slug}`);
        expect(await used(), `deleted ${round}`).toBe('config.not_found');
      }
    },
    rounds * 5_000,
  );

  it(
    'of a key',
    async () => {
      const { slug } = (await post('/configs', { name: 'of keys', config: at('key') })).data;
      for (const round of all) {
        const { id, key } = await post('/api-keys/workspace/service', {
          name: `k${round}`,
          scopes: ['completions.write'],
        });
        const used = () => chat({ 'x-service-config': slug }, key);
        expect(await used(), `created ${round}`).toBe('/key/chat/completions');
        await manage('PUT', `/api-keys/${id}`, { scopes: ['configs.list'] });
        expect(await used(), `changed ${round}`).toBe('auth.missing_scope');
        await manage('PUT', `/api-keys/${id}`, { scopes: ['completions.write'] });
        expect(await used(), `changed back ${round}`).toBe('/key/chat/completions');
        await manage('DELETE', `/api-keys/${id}`);
        expect(await used(), `deleted ${round}`).toBe('auth.invalid_key');
        expect(await used(), `deleted ${round}, once more`).toBe('auth.invalid_key');
      }
    },
    rounds * 5_000,
  );

  it(
    'of a provider',
    async () => {
      for (const round of all) {
        const slug = `provider-${round}`;
        const made = { name: slug, slug, ai_provider_id: 'openai', key: `sk-${round}` };
        await post('/integrations', {
          ...made,
          configurations: { custom_host: `${upstream.url}/first` },
        });
        const used = () => chat({ 'x-service-provider': `@${slug}` });
        expect(await used(), `created ${round}`).toBe('/first/chat/completions');
        await manage('PUT', `/integrations/${slug}`, {
          key: `sk-${round}`,
          configurations: { custom_host: `${upstream.url}/second` },
        });
        expect(await used(), `changed ${round}`).toBe('/second/chat/completions');
        await manage('DELETE', `/providers/${slug}`);
        expect(await used(), `deleted ${round}`).toBe('provider.not_found');
      }
    },
    rounds * 5_000,
  );

  it(
    'of a prompt',
    async () => {
      for (const round of all) {
        const { slug } = await post('/prompts', {
          name: `p${round}`,
          collection_id: 'default',
          string: `[{"role":"user","content":"first ${round}"}]`,
          parameters: {},
          virtual_key: 'demo',
        });
        expect(await rendered(slug), `created ${round}`).toContain(`first ${round}`);
        await manage('PUT', `/prompts/${slug}`, {
          string: `[{"role":"user","content":"second ${round}"}]`,
          parameters: {},
          virtual_key: 'demo',
        });
        expect(await rendered(`${slug}@2`), `version ${round}`).toContain(`second ${round}`);
        await manage('PUT', `/prompts/${slug}/makeDefault`, { version: 2 });
        expect(await rendered(slug), `published ${round}`).toContain(`second ${round}`);
        await manage('DELETE', `/prompts/${slug}`);
        expect(await rendered(slug), `deleted ${round}`).toBe('prompt.not_found');
      }
    },
    rounds * 5_000,
  );
});

describe('with parts away', () => {
  it('a gateway that hangs holds up a change for its patience, and the answer says so', async () => {
    const [, second] = gateways;
    second?.pause();
    try {
      const startedAt = performance.now();
      const answer = await fetch(`${gateways[0]?.url}/v1/configs`, {
        method: 'POST',
        headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Meanwhile', config: at('meanwhile') }),
      });
      expect(performance.now() - startedAt).toBeLessThan(2_500);
      // It is here, where it was asked for; of the others nobody knows.
      expect(answer.headers.get('x-service-in-force')).toBe('here');
      const { data } = (await answer.json()) as { data: { slug: string } };
      turns = 2;
      expect(await chat({ 'x-service-config': data.slug })).toBe('/meanwhile/chat/completions');
      second?.resume();
      // What it hears late is in force soon, as for anybody who was away.
      const asked = async () => {
        turns = 0;
        return chat({ 'x-service-config': data.slug });
      };
      await expect.poll(asked, { timeout: 3_000 }).toBe('/meanwhile/chat/completions');
    } finally {
      second?.resume();
    }
  });

  it('a control plane that ended is waited for by nobody, and its gateway answers with what it holds', async () => {
    const third = gateways[2];
    const { slug } = (await post('/configs', { name: 'Kept', config: at('kept') })).data;
    await replicas[2]?.close();
    const startedAt = performance.now();
    const answer = await fetch(`${gateways[0]?.url}/v1/configs`, {
      method: 'POST',
      headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'After', config: at('after') }),
    });
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(answer.headers.get('x-service-in-force')).toBe('everywhere');
    const { data } = (await answer.json()) as { data: { slug: string } };
    const asked = async (config: string) => {
      const from = performance.now();
      const reply = await fetch(`${third?.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'x-service-api-key': h.first.workspace_key,
          'content-type': 'application/json',
          'x-service-config': config,
        },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
      });
      return { status: reply.status, ms: performance.now() - from };
    };
    expect((await asked(slug)).status).toBe(200);
    const unknown = await asked(data.slug);
    expect(unknown.status).toBe(400);
    expect(unknown.ms).toBeLessThan(900);
  });
});
