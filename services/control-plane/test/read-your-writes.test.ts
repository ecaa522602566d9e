import { eventually, json, startUpstream, type Upstream } from '@sluice/testkit';
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

/** An answered change: what it answered, and where it says that it is in force. */
interface Change {
  readonly body: Answered & { readonly data: Answered };
  readonly inForce: string | null;
}

/** What tests read of it; each operation answers with some of these. */
interface Answered {
  readonly slug: string;
  readonly id: string;
  readonly key: string;
}

async function manage(method: string, path: string, body?: object): Promise<Change> {
  const answer = await fetch(`${nextGateway()}/v1${path}`, {
    method,
    headers: { 'x-service-api-key': h.first.workspace_key, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const inForce = answer.headers.get('x-service-in-force');
  // Nobody can have asked for a new key, so nobody has to be told.
  if (!(method === 'POST' && path.startsWith('/api-keys'))) expect(inForce).not.toBeNull();
  changes += 1;
  return { body: JSON.parse(text), inForce };
}

let changes = 0;
/** Changes whose answers did not say that they were in force everywhere. */
const late: string[] = [];

/**
 * What is in force everywhere is what the very next request sees. An answer may
 * say that it is not, when a gateway had no processor for a second: then it is soon.
 */
async function sees<T>(
  use: () => Promise<T>,
  what: string,
  { inForce }: Change,
  check: (seen: T) => void,
): Promise<void> {
  if (inForce === 'everywhere' || inForce === null) return check(await use());
  late.push(`${what}: ${inForce}`);
  await eventually(async () => check(await use()), { timeoutMs: 10_000 });
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

  const is = (expected: string) => (seen: unknown) => expect(seen).toBe(expected);
  const has = (expected: string) => (seen: string) => expect(seen).toContain(expected);

  afterAll(() => {
    process.stdout.write(`${changes} changes, ${late.length} late\n${late.join('\n')}\n`);
    // A machine that is busy with others is late now and then; who never waits is late always.
    expect(late.length).toBeLessThan(changes / 10);
  });

  it(
    'of a config',
    async () => {
      for (const round of all) {
        const created = await manage('POST', '/configs', { name: `c${round}`, config: at('one') });
        const { slug, id } = created.body.data;
        const used = () => chat({ 'x-service-config': round % 2 === 0 ? slug : id });
        await sees(used, `created ${round}`, created, is('/one/chat/completions'));
        const changed = await manage('PUT', `/configs/${slug}`, { config: at('two') });
        await sees(used, `changed ${round}`, changed, is('/two/chat/completions'));
        const deleted = await manage('DELETE', `/configs/${slug}`);
        await sees(used, `deleted ${round}`, deleted, is('config.not_found'));
      }
    },
    rounds * 5_000,
  );

  it(
    'of a key',
    async () => {
      const config = await manage('POST', '/configs', { name: 'of keys', config: at('key') });
      const { slug } = config.body.data;
      for (const round of all) {
        const created = await manage('POST', '/api-keys/workspace/service', {
          name: `k${round}`,
          scopes: ['completions.write'],
        });
        const { id, key } = created.body;
        const used = () => chat({ 'x-service-config': slug }, key);
        await sees(used, `created ${round}`, created, is('/key/chat/completions'));
        const path = `/api-keys/${id}`;
        const changed = await manage('PUT', path, { scopes: ['configs.list'] });
        await sees(used, `changed ${round}`, changed, is('auth.missing_scope'));
        const back = await manage('PUT', path, { scopes: ['completions.write'] });
        await sees(used, `changed back ${round}`, back, is('/key/chat/completions'));
        const deleted = await manage('DELETE', path);
        await sees(used, `deleted ${round}`, deleted, is('auth.invalid_key'));
        await sees(used, `deleted ${round}, once more`, deleted, is('auth.invalid_key'));
      }
    },
    rounds * 5_000,
  );

  it(
    'of a provider',
    async () => {
      for (const round of all) {
        const slug = `provider-${round}`;
        const held = (where: string) => ({
          key: `sk-${round}`,
          configurations: { custom_host: `${upstream.url}/${where}` },
        });
        const created = await manage('POST', '/integrations', {
          ...held('first'),
          name: slug,
          slug,
          ai_provider_id: 'openai',
        });
        const used = () => chat({ 'x-service-provider': `@${slug}` });
        await sees(used, `created ${round}`, created, is('/first/chat/completions'));
        const changed = await manage('PUT', `/integrations/${slug}`, held('second'));
        await sees(used, `changed ${round}`, changed, is('/second/chat/completions'));
        const deleted = await manage('DELETE', `/providers/${slug}`);
        await sees(used, `deleted ${round}`, deleted, is('provider.not_found'));
      }
    },
    rounds * 5_000,
  );

  it(
    'of a prompt',
    async () => {
      for (const round of all) {
        const saying = (text: string) => ({
          string: `[{"role":"user","content":"${text} ${round}"}]`,
          parameters: {},
          virtual_key: 'demo',
        });
        const created = await manage('POST', '/prompts', {
          ...saying('first'),
          name: `p${round}`,
          collection_id: 'default',
        });
        const { slug } = created.body;
        const used = () => rendered(slug);
        await sees(used, `created ${round}`, created, has(`first ${round}`));
        const changed = await manage('PUT', `/prompts/${slug}`, saying('second'));
        const second = () => rendered(`${slug}@2`);
        await sees(second, `version ${round}`, changed, has(`second ${round}`));
        const published = await manage('PUT', `/prompts/${slug}/makeDefault`, { version: 2 });
        await sees(used, `published ${round}`, published, has(`second ${round}`));
        const deleted = await manage('DELETE', `/prompts/${slug}`);
        await sees(used, `deleted ${round}`, deleted, is('prompt.not_found'));
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
    const kept = await manage('POST', '/configs', { name: 'Kept', config: at('kept') });
    const { slug } = kept.body.data;
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
