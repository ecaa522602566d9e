import { usage } from '@sluice/proto-stubs';
import {
  eventually,
  json,
  type RecordedRequest,
  startUpstream,
  type Upstream,
} from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../src/pipeline/explain/explanation.ts';
import { type Lab, startLab } from './lab.ts';
import { chatReply } from './scenario.ts';

/** The semantic cache in a running gateway: both upstreams are the test's own. */
let lab: Lab;
let models: Upstream;
let vectors: Upstream;
let main: string;
let embedding: { provider: string; model: string };
beforeAll(async () => {
  [lab, models, vectors] = await Promise.all([
    startLab({
      environment: {
        gateway: {
          SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '2',
          // Long enough for a busy machine.
          SEMANTIC_CACHE_EMBEDDING_TIMEOUT: '3000',
        },
      },
    }),
    startUpstream(json(200, chatReply)),
    startUpstream((request) => tellVector(request)),
  ]);
  const provider = { aiProviderId: 'openai', key: 'sk-saved' };
  main = await lab.saveProvider({ ...provider, customHost: `${models.url}/v1` });
  embedding = {
    provider: await lab.saveProvider({ ...provider, customHost: `${vectors.url}/v1` }),
    model: 'text-embedding-3-small',
  };
});
afterAll(() => Promise.all([lab?.stop(), models?.close(), vectors?.close()]));
beforeEach(() => {
  vectors.handle((request) => tellVector(request));
  models.requests.length = 0;
  vectors.requests.length = 0;
});

/** Questions lie on a circle: their angle in degrees is the number in them. */
const tellVector = ({ body }: Pick<RecordedRequest, 'body'>, tokens = 4) => {
  const { input } = JSON.parse(String(body));
  const angle = (Number(/\d+/.exec(input)?.[0]) * Math.PI) / 180;
  return json(200, {
    object: 'list',
    model: 'text-embedding-3-small',
    data: [{ object: 'embedding', index: 0, embedding: [Math.cos(angle), Math.sin(angle)] }],
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
};

interface AskOptions {
  cache?: object;
  headers?: Record<string, string>;
  body?: object;
  config?: object;
}

async function ask(content: string, { cache, headers, body, config }: AskOptions = {}) {
  const response = await lab.scenario.chat({
    host: null,
    headers: {
      'x-service-config': JSON.stringify({
        provider: main,
        cache: { mode: 'semantic', embedding, ...cache },
        ...config,
      }),
      ...headers,
    },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...body },
  });
  const requestId = response.headers.get('x-service-request-id') ?? '';
  const status = response.headers.get('x-service-cache-status');
  return { response, status, requestId, text: await response.text() };
}

/** A question of its own for each case: what others keep is in other namespaces. */
const inNamespace = (name: string, over: AskOptions = {}) => ({
  ...over,
  headers: { 'x-service-cache-namespace': name, ...over.headers },
});

describe('the semantic cache of a gateway', () => {
  it('answers a question in other words, and the ledger has the call for each vector', async () => {
    const here = inNamespace('words');
    const first = await ask('question 0', here);
    expect([first.response.status, first.status]).toEqual([200, 'SEMANTIC MISS']);
    const second = await ask('question 10', here);
    expect([second.response.status, second.status]).toEqual([200, 'SEMANTIC HIT']);
    expect(JSON.parse(second.text)).toMatchObject({ choices: chatReply.choices });
    expect((await ask('question 0', here)).status).toBe('HIT');
    expect((await ask('question 40', here)).status).toBe('SEMANTIC MISS');
    expect(models.requests).toHaveLength(2);
    expect(
      vectors.requests.map(({ path, body }) => [path, JSON.parse(String(body)).input]),
    ).toEqual(
      ['question 0', 'question 10', 'question 40'].map((input) => ['/v1/embeddings', input]),
    );
    const [asked, answered] = await lab.records.of(second.requestId, 2);
    expect(asked).toMatchObject({
      endpoint: 'embed',
      model: 'text-embedding-3-small',
      providerSlug: embedding.provider.slice(1),
      optionPath: 'cache.embedding',
      decisionJson: '{"asked_by":"cache"}',
      inputTokens: 4n,
      costKnown: true,
    });
    expect(answered).toMatchObject({
      endpoint: 'chatComplete',
      cacheStatus: 'SEMANTIC HIT',
      cacheType: 'semantic',
      costNanoUsd: 0n,
    });
    expect(answered?.avoidedCostNanoUsd).toBeGreaterThan(0n);
    expect(JSON.parse(answered?.decisionJson ?? '{}').cache).toEqual({
      similarity: expect.closeTo(Math.cos(Math.PI / 18), 5),
      given: true,
    });
  });

  it('counts a vector with the limits of who makes it, which refuse none', async () => {
    const { admin, stack } = lab.scenario;
    const { id } = await admin<{ id: string }>('POST', '/policies/usage-limits', {
      workspace_id: stack.credentials.workspace_id,
      name: 'Vectors',
      type: 'tokens',
      credit_limit: 100,
      conditions: [{ key: 'virtual_key', value: embedding.provider.slice(1) }],
      group_by: [{ key: 'virtual_key' }],
    });
    const here = inNamespace('counted');
    vectors.handle((request) => tellVector(request, 150));
    expect((await ask('question 0', here)).status).toBe('SEMANTIC MISS');
    const spent = await ask('question 10', here);
    expect(spent.status).toBe('SEMANTIC HIT');
    const [asked] = await lab.records.of(spent.requestId, 2);
    expect(asked?.endpoint).toBe('embed');
    expect(Object.values(asked?.countersSettled ?? {})).toEqual([150n]);
    await eventually(async () => {
      const { data } = await admin<{ data: object[] }>(
        'GET',
        `/policies/usage-limits/${id}/entities`,
      );
      expect(data).toEqual([expect.objectContaining({ current_usage: 300, reserved: 0 })]);
    });
    await admin('DELETE', `/policies/usage-limits/${id}`);
  });

  it('tells in shadow mode what it would have given, and gives nothing', async () => {
    const here = inNamespace('shadow', { cache: { shadow: true } });
    await ask('question 0', here);
    const told = await ask('question 10', here);
    expect(told.status).toBe('SEMANTIC MISS');
    const record = (await lab.records.of(told.requestId, 2)).find(
      ({ endpoint }) => endpoint === 'chatComplete',
    );
    expect(JSON.parse(record?.decisionJson ?? '{}').cache).toEqual({
      similarity: expect.closeTo(0.985, 3),
      given: false,
    });
    expect(models.requests).toHaveLength(2);
  });

  it('goes on without a vector when its maker is slow or refuses', async () => {
    const here = inNamespace('down');
    vectors.handle(json(500, { error: { message: 'down' } }));
    expect((await ask('question 0', here)).status).toBe('SEMANTIC MISS');
    let answerAtLast = () => {};
    vectors.handle(async () => {
      await new Promise<void>((resolve) => {
        answerAtLast = resolve;
      });
      return json(200, {});
    });
    const late = await ask('question 1', here);
    expect([late.response.status, late.status]).toEqual([200, 'SEMANTIC MISS']);
    const [asked] = await lab.records.of(late.requestId, 2);
    expect(asked).toMatchObject({
      endpoint: 'embed',
      outcome: usage.Outcome.UPSTREAM_FAILURE,
      errorCode: 'upstream.timeout',
    });
    answerAtLast();
    vectors.handle((request) => tellVector(request));
    expect((await ask('question 1', here)).status).toBe('HIT');
    expect((await ask('question 2', here)).status).toBe('SEMANTIC MISS');
  });

  it('lets input checks speak of an answer that it gives, as the simple cache does', async () => {
    const config = { input_guardrails: [{ 'default.wordCount': { minWords: 50 } }] };
    const here = inNamespace('checked', { config });
    await ask('question 0', here);
    const found = await ask('question 10', here);
    expect([found.response.status, found.status]).toEqual([246, 'SEMANTIC HIT']);
    expect(JSON.parse(found.text).hook_results.before_request_hooks).toHaveLength(1);
  });

  it('tells a kept answer as a stream', async () => {
    const here = inNamespace('stream');
    await ask('question 0', here);
    const found = await ask('question 10', { ...here, body: { stream: true } });
    expect(found.status).toBe('SEMANTIC HIT');
    expect(found.text).toContain('data: [DONE]');
  });

  it('forgets what an admin has it forget: a namespace, or all', async () => {
    const { scenario } = lab;
    const { workspace_id } = scenario.stack.credentials;
    const empty = (query = '') =>
      scenario.admin('DELETE', `/admin/workspaces/${workspace_id}/cache${query}`);
    const [mine, others] = [inNamespace('mine'), inNamespace('others')];
    const statuses = async () => [
      (await ask('question 0', mine)).status,
      (await ask('question 10', mine)).status,
      (await ask('question 0', others)).status,
    ];
    await statuses();
    const kept = ['HIT', 'SEMANTIC HIT', 'HIT'];
    expect(await statuses()).toEqual(kept);
    await empty('?namespace=mine');
    expect(await statuses()).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT', 'HIT']);
    await empty();
    expect(await statuses()).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT', 'SEMANTIC MISS']);
    expect(await statuses()).toEqual(kept);
  });

  it('keeps answers for as long as the organisation says where a config does not, and no longer', async () => {
    const { scenario } = lab;
    await scenario.admin('PUT', '/admin/organisation/settings', { caching: { max_age: 120 } });
    const maxAge = async (max_age?: number) => {
      const config = { provider: main, cache: { mode: 'simple', max_age } };
      const headers = { 'x-service-config': JSON.stringify(config) };
      const response = await scenario.call('/v1/explain', { host: null, headers });
      return ((await response.json()) as Explanation).plan[0]?.cache?.max_age_s;
    };
    expect([await maxAge(), await maxAge(3600), await maxAge(60)]).toEqual([120, 120, 60]);
    await scenario.admin('PUT', '/admin/organisation/settings', { caching: null });
    expect(await maxAge()).toBe(604_800);
  });

  it('refuses a target that names nobody who makes vectors, and what makes no sense', async () => {
    const nobody = await ask('question 0', { cache: { embedding: undefined } });
    expect(nobody.response.status).toBe(400);
    expect(JSON.parse(nobody.text).error).toMatchObject({ param: 'config.cache.embedding' });
    const simple = await ask('question 0', { cache: { mode: 'simple' } });
    expect(JSON.parse(simple.text).error.param).toBe('config.cache.embedding');
    const raw = await ask('question 0', {
      cache: { embedding: { provider: 'openai', model: 'm' } },
    });
    expect(JSON.parse(raw.text).error.param).toBe('config.cache.embedding.provider');
  });
});

describe('checks that ask a model or a thread', () => {
  const guarded = (check: object) => ({
    config: { cache: undefined, input_guardrails: [{ ...check, deny: true }] },
  });

  it('know a topic by what is said of it, with vectors on the caller’s account', async () => {
    const topics = [{ name: 'turns', examples: ['a turn of 90'] }];
    const check = guarded({ 'default.bannedTopics': { topics, similarity: 0.9, embedding } });
    const near = await ask('question 80', check);
    expect(near.response.status).toBe(446);
    expect(near.text).toContain('Speaks of turns.');
    expect((await ask('question 10', check)).response.status).toBe(200);
    expect(vectors.requests).toHaveLength(3);
    const [asked] = await lab.records.of(near.requestId, 3);
    expect(asked).toMatchObject({ endpoint: 'embed', decisionJson: '{"asked_by":"guardrail"}' });
  });

  it('tell languages by the thread of a gateway as it is built', async () => {
    const check = guarded({ 'default.languages': { allowed: ['en'], onUndecided: 'fail' } });
    const german = 'Kannst du mir bitte sagen, wann der nächste Zug fährt?';
    // Until the thread has begun, nobody can tell.
    await eventually(async () => expect((await ask(german, check)).response.status).toBe(446));
    const english = 'Could you please tell me when the next train leaves?';
    expect((await ask(english, check)).response.status).toBe(200);
  });
});
