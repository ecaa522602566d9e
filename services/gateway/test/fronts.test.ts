import { create } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { callers } from '@sluice/proto-stubs';
import { eventually, freePort, json, sse } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type GrpcClient, grpcClient } from './grpc.ts';
import { type Records, readRecords } from './records.ts';
import { chatBody, chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
let records: Records;
let grpc: GrpcClient;
let port: number;

beforeAll(async () => {
  port = await freePort();
  scenario = await startScenario({
    nats: true,
    environment: {
      gateway: {
        GRPC_ENABLED: 'true',
        GRPC_PORT: String(port),
        HEADER_PREFIX_ALIASES: 'x-portkey-',
        REQUEST_BODY_BYTES_MAX: '65536',
      },
    },
  });
  records = await readRecords(scenario.stack.nats?.url as string);
  grpc = grpcClient(`127.0.0.1:${port}`);
});
afterAll(async () => {
  grpc?.close();
  await records?.close();
  await scenario?.stop();
});

function headers(over: Record<string, string> = {}, prefix = 'x-service-') {
  return {
    [`${prefix}api-key`]: scenario.stack.credentials.workspace_key,
    [`${prefix}provider`]: 'openai',
    [`${prefix}custom-host`]: `${scenario.upstream.url}/v1`,
    authorization: 'Bearer sk-upstream',
    ...over,
  };
}

const chunk = (content: string) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const usageChunk = { ...chunk(''), choices: [], usage: chatReply.usage };
const embeddings = {
  object: 'list',
  model: 'text-embedding-3-small',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 4, total_tokens: 4 },
};
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 2 },
};
const messageEvents = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-4o-mini',
  output: [],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};
const responseEvents = [
  { type: 'response.created', response: { ...response, status: 'in_progress', usage: null } },
  {
    type: 'response.output_text.delta',
    item_id: 'i',
    output_index: 0,
    content_index: 0,
    delta: 'Hi',
  },
  { type: 'response.completed', response },
];
const ask = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: chatBody.messages };

describe('gateway.Gateway', () => {
  it('tells that it is there, to anybody', async () => {
    const answer = await new Promise<{ status: string; version: string }>((resolve, reject) =>
      (grpc.client as unknown as Record<string, (...a: unknown[]) => void>).health?.(
        create(callers.HealthRequestSchema),
        (error: Error | null, value: { status: string; version: string }) =>
          error ? reject(error) : resolve(value),
      ),
    );
    expect(answer).toMatchObject({ status: 'ok', version: expect.stringMatching(/^\d/) });
  });

  it.each([
    ['chatCompletions', '/v1/chat/completions', chatBody, chatReply, {}],
    [
      'embeddings',
      '/v1/embeddings',
      { model: 'text-embedding-3-small', input: 'x' },
      embeddings,
      {},
    ],
    ['messages', '/v1/messages', ask, message, { 'x-service-provider': 'anthropic' }],
    ['responses', '/v1/responses', { model: 'gpt-4o-mini', input: 'x' }, response, {}],
  ])(
    '%s is the request of HTTP, with its headers after the answer',
    async (method, path, body, reply, over) => {
      scenario.upstream.handle(json(200, reply, { 'x-from-upstream': 'yes' }));
      const answer = await grpc.call(method, body, headers(over));
      expect(answer).toMatchObject({ code: status.OK, statusCode: 200 });
      expect(JSON.parse(answer.body)).toEqual(reply);
      const { trailing } = answer;
      expect(trailing).toMatchObject({ 'x-service-status-code': '200', 'x-from-upstream': 'yes' });
      expect(trailing['x-service-provider']).toBe(Object.values(over)[0] ?? 'openai');
      const sent = scenario.upstream.requests.at(-1);
      expect(sent?.path).toBe(path);
      expect(sent?.body.toString()).toBe(JSON.stringify(body));
      const [record] = await records.of(trailing['x-service-request-id'] ?? '', 1);
      expect(record).toMatchObject({ statusCode: 200, outcome: expect.anything() });
      expect(Number(record?.inputTokens)).toBeGreaterThan(0);
    },
  );

  it.each([
    ['chatCompletionsStream', chatBody, [chunk('a'), chunk('b'), usageChunk, '[DONE]'], {}],
    ['messagesStream', ask, messageEvents, { 'x-service-provider': 'anthropic' }],
    ['responsesStream', { model: 'gpt-4o-mini', input: 'x' }, responseEvents, {}],
  ])('%s asks for a stream, and passes its text on', async (method, body, events, over) => {
    scenario.upstream.handle(sse(events));
    const { ended, pieces } = grpc.stream(method, body, headers(over));
    const answer = await ended;
    expect(answer).toMatchObject({ code: status.OK, trailing: { 'x-service-status-code': '200' } });
    expect(pieces.length).toBeGreaterThan(0);
    const told = answer.body.match(/^data: .*$/gm);
    expect(told?.at(0)).toBe(`data: ${JSON.stringify(events[0])}`);
    expect(JSON.parse(scenario.upstream.requests.at(-1)?.body.toString() ?? '')).toMatchObject({
      ...body,
      stream: true,
    });
    const [record] = await records.of(answer.trailing['x-service-request-id'] ?? '', 1);
    expect(Number(record?.outputTokens)).toBeGreaterThan(0);
  });

  it('answers one at a time although the body asks for a stream', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const answer = await grpc.call('chatCompletions', { ...chatBody, stream: true }, headers());
    expect(JSON.parse(answer.body)).toEqual(chatReply);
    expect(scenario.upstream.requests.at(-1)?.json()).toEqual({ ...chatBody, stream: false });
  });

  it('takes an alias prefix, and answers under it', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const answer = await grpc.call('chatCompletions', chatBody, headers({}, 'x-portkey-'));
    expect(answer.statusCode).toBe(200);
    expect(answer.trailing).toMatchObject({
      'x-portkey-provider': 'openai',
      'x-service-provider': 'openai',
      'x-portkey-status-code': '200',
    });
  });

  const broken = '{"model": "gpt-4o-mini", "messages": [';
  it.each([
    ['no key', chatBody, { 'x-service-api-key': '', authorization: '' }, 401, 'auth.missing_key'],
    ['a wrong key', chatBody, { 'x-service-api-key': 'nobody' }, 401, 'auth.invalid_key'],
    ['what is not JSON', broken, {}, 400, 'request.malformed_json'],
    ['nothing', '', {}, 400, 'request.malformed_json'],
    ['a wrong type', { ...chatBody, stream: 'yes' }, {}, 400, 'request.invalid_field'],
    [
      'a provider over gRPC',
      chatBody,
      { 'x-service-gateway-transport': 'grpc' },
      400,
      'request.invalid_header',
    ],
    ['a config that is none', chatBody, { 'x-service-config': '{' }, 400, undefined],
  ])(
    'tells of %s in the answer, with the call as such well',
    async (_name, body, over, code, error) => {
      const answer = await grpc.call('chatCompletions', body, headers(over));
      expect(answer).toMatchObject({ code: status.OK, statusCode: code });
      if (error !== undefined) {
        expect(JSON.parse(answer.body)).toMatchObject({ error: { code: error } });
        expect(answer.trailing['x-service-error-code']).toBe(error);
      }
      const streamed = await grpc.stream('chatCompletionsStream', body, headers(over)).ended;
      expect(streamed).toMatchObject({ code: status.OK });
      expect(streamed.trailing['x-service-status-code']).toBe(String(code));
      expect(JSON.parse(streamed.body)).toHaveProperty('error');
    },
  );

  it('passes a provider’s refusal on', async () => {
    scenario.upstream.handle(
      json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
    );
    const answer = await grpc.call('chatCompletions', chatBody, headers());
    expect(answer).toMatchObject({ code: status.OK, statusCode: 429 });
    expect(answer.trailing['retry-after']).toBe('7');
  });

  it('refuses what is larger than a body may be', async () => {
    const body = { ...chatBody, messages: [{ role: 'user', content: 'x'.repeat(70_000) }] };
    const answer = await grpc.call('chatCompletions', body, headers());
    expect(answer.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('ends the provider’s answer when the caller cancels, and bills what was seen', async () => {
    const words = Array.from({ length: 400 }, (_, index) => chunk(`word ${index} `));
    scenario.upstream.handle(sse([...words, '[DONE]'], { delayMs: 5 }));
    const before = scenario.upstream.requests.length;
    const stream = grpc.stream(
      'chatCompletionsStream',
      chatBody,
      headers({ 'x-service-trace-id': 'left' }),
    );
    await eventually(() => stream.pieces.length > 20);
    stream.cancel();
    expect((await stream.ended).code).toBe(status.CANCELLED);
    await eventually(() => scenario.upstream.requests[before]?.aborted === true);
    await eventually(() => records.all().some(({ traceId }) => traceId === 'left'));
    const record = records.all().find(({ traceId }) => traceId === 'left');
    expect(record).toMatchObject({ errorCode: 'request.aborted', usageEstimated: true });
    expect(Number(record?.outputTokens)).toBeGreaterThan(20);
  });

  it('cancels a call that has one answer, and one whose deadline has passed', async () => {
    const before = scenario.upstream.requests.length;
    scenario.upstream.handle(sse([chunk('a'), '[DONE]'], { delayMs: 60_000 }));
    const answer = await grpc.call('chatCompletions', chatBody, headers(), 300);
    expect(answer.code).toBe(status.DEADLINE_EXCEEDED);
    await eventually(() => scenario.upstream.requests[before]?.aborted === true);
  });
});

describe('x-service-nitro-mode', () => {
  const nitro = { 'x-service-nitro-mode': 'true' };
  /** What no reader of JSON would leave as it is. */
  const oddBody =
    '{ "model" : "gpt-4o-mini", "model":"gpt-4o-mini","seed":12345678901234567890, "messages":[{"role":"user","content":"Hi"}] }';

  it('streams to the openai client, and bills what the answer tells', async () => {
    scenario.upstream.handle(sse([chunk('a'), chunk('b'), usageChunk, '[DONE]']));
    const client = new OpenAI({
      apiKey: 'sk-upstream',
      baseURL: `${scenario.stack.gatewayUrls[0]}/v1`,
      maxRetries: 0,
      defaultHeaders: { ...headers(), ...nitro, 'x-service-trace-id': 'nitro-stream' },
    });
    const { data, response: head } = await client.chat.completions
      .create({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        stream_options: { include_usage: true },
      })
      .withResponse();
    const said: string[] = [];
    for await (const { choices } of data) said.push(choices[0]?.delta.content ?? '');
    expect(said.join('')).toBe('ab');
    const [record] = await records.of(head.headers.get('x-service-request-id') ?? '', 1);
    expect(record).toMatchObject({ inputTokens: 1000n, outputTokens: 500n, usageEstimated: false });
    expect(record?.responseModel).toBe('gpt-4o-mini');
    expect(record?.costNanoUsd).toBeGreaterThan(0n);
    expect(JSON.parse(record?.decisionJson ?? '{}')).toMatchObject({ nitro: true });
    await expect(
      client.chat.completions.create(
        { model: 'gpt-4o-mini', messages: [] },
        { headers: { 'x-service-config': JSON.stringify({ retry: { attempts: 1 } }) } },
      ),
    ).rejects.toMatchObject({ status: 400, code: 'request.nitro_refused' });
  });

  it('sends every byte as it came, also over gRPC', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const answer = await scenario.call('/v1/chat/completions', {
      rawBody: oddBody,
      headers: nitro,
    });
    expect(await answer.json()).toEqual(chatReply);
    const sent = scenario.upstream.requests.at(-1);
    expect(sent?.body.toString()).toBe(oddBody);
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer sk-upstream' });
    await grpc.call('chatCompletions', oddBody, headers(nitro));
    expect(scenario.upstream.requests.at(-1)?.body.toString()).toBe(oddBody);
    const plain = await scenario.call('/v1/chat/completions', { rawBody: oddBody });
    expect(plain.status).toBe(400);
  });

  it.each([
    ['/v1/embeddings', embeddings, 'openai', '/v1/embeddings'],
    ['/v1/messages', message, 'anthropic', '/v1/messages'],
    ['/v1/responses', response, 'openai', '/v1/responses'],
  ])('is for POST %s', async (path, reply, provider, upstreamPath) => {
    scenario.upstream.handle(json(200, reply));
    const answer = await scenario.call(path, {
      rawBody: '{"anything":1 }',
      headers: { ...nitro, 'x-service-provider': provider },
    });
    expect([answer.status, await answer.json()]).toEqual([200, reply]);
    const sent = scenario.upstream.requests.at(-1);
    expect([sent?.path, sent?.body.toString()]).toEqual([upstreamPath, '{"anything":1 }']);
    const [record] = await records.of(answer.headers.get('x-service-request-id') ?? '', 1);
    expect(Number(record?.inputTokens)).toBeGreaterThan(0);
    expect(record?.costNanoUsd).toBeGreaterThan(0n);
  });

  it('estimates a stream that tells no usage by the bytes that passed', async () => {
    scenario.upstream.handle(sse([chunk('a'), chunk('b'), '[DONE]']));
    const rawBody = JSON.stringify({ ...chatBody, stream: true, pad: 'word '.repeat(2000) });
    const answer = await scenario.call('/v1/chat/completions', { rawBody, headers: nitro });
    expect(await answer.text()).toContain('[DONE]');
    const [record] = await records.of(answer.headers.get('x-service-request-id') ?? '', 1);
    expect(record?.usageEstimated).toBe(true);
    expect(Number(record?.inputTokens)).toBeGreaterThan(1000);
    expect(Number(record?.outputTokens)).toBeGreaterThan(0);
  });

  it('takes no notice of the cache', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const config = { cache: { mode: 'simple' } };
    for (let time = 0; time < 2; time++) {
      const before = scenario.upstream.requests.length;
      const over = { headers: { ...nitro, 'x-service-config': JSON.stringify(config) } };
      expect((await scenario.chat(over)).status).toBe(200);
      expect(scenario.upstream.requests.length).toBe(before + 1);
    }
  });

  const target = { provider: 'openai', api_key: 'sk-upstream' };
  it.each<[string, object, Record<string, string>, string?]>([
    ['several targets', { strategy: { mode: 'fallback' }, targets: [target, target] }, {}],
    ['a strategy of one', { strategy: { mode: 'loadbalance' }, targets: [target] }, {}],
    ['retries', { ...target, retry: { attempts: 2 } }, {}],
    ['overrides', { ...target, override_params: { model: 'gpt-4o' } }, {}],
    ['defaults', { ...target, default_params: { user: 'x' } }, {}],
    [
      'hooks',
      { ...target, input_guardrails: [{ 'default.wordCount': { minWords: 0, maxWords: 9 } }] },
      {},
    ],
    [
      'hooks of answers',
      { ...target, output_guardrails: [{ 'default.wordCount': { minWords: 0, maxWords: 9 } }] },
      {},
    ],
    ['a bound of cost', target, { 'x-service-max-cost': '1' }],
    ['a provider with other words', { provider: 'anthropic', api_key: 'k' }, {}],
    [
      'an address for each model',
      { provider: 'bedrock', api_key: 'k' },
      {},
      '/v1/chat/completions',
    ],
    ['another endpoint', target, {}, '/v1/images/generations'],
  ])('refuses %s, and asks nobody', async (_name, config, over, path = '/v1/chat/completions') => {
    const before = scenario.upstream.requests.length;
    const answer = await scenario.call(path, {
      host: null,
      headers: {
        ...nitro,
        ...over,
        'x-service-config': JSON.stringify({
          custom_host: `${scenario.upstream.url}/v1`,
          ...config,
        }),
      },
    });
    const told = await errorOf(answer);
    expect([told.status, told.code]).toEqual([400, 'request.nitro_refused']);
    expect(told.param).toBeTruthy();
    expect(scenario.upstream.requests.length).toBe(before);
  });

  it.each([
    ['a budget', { usage_limits: { type: 'cost', credit_limit: 1 } }],
    ['a limit of tokens', { rate_limits: [{ type: 'tokens', unit: 'rpd', value: 2000 }] }],
  ])('is no way round %s of a key', async (_name, limit) => {
    const { workspace_slug } = scenario.stack.credentials;
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'limited',
      workspace_id: workspace_slug,
      scopes: ['completions.write'],
      ...limit,
    });
    const before = scenario.upstream.requests.length;
    const refused = await errorOf(await scenario.chat({ key, headers: nitro }));
    expect([refused.status, refused.code]).toEqual([400, 'request.nitro_refused']);
    expect(scenario.upstream.requests.length).toBe(before);
    expect((await scenario.chat({ key })).status).toBe(200);
  });

  it('is no way round what a workspace enforces', async () => {
    const { workspace_id, workspace_slug } = scenario.stack.credentials;
    const { slug } = await scenario.admin<{ slug: string }>('POST', '/guardrails', {
      name: 'Enforced',
      workspace_id,
      checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
      actions: { deny: true },
    });
    const enforce = (input_guardrails: string[]) =>
      scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, {
        defaults: { input_guardrails },
      });
    onTestFinished(async () => {
      await enforce([]);
    });
    await enforce([slug]);
    const refused = await errorOf(await scenario.chat({ headers: nitro }));
    expect([refused.status, refused.code]).toEqual([400, 'request.nitro_refused']);
    const overGrpc = await grpc.call('chatCompletions', chatBody, headers(nitro));
    expect(overGrpc.trailing['x-service-error-code']).toBe('request.nitro_refused');
  });

  describe('with a saved provider', () => {
    const slug = 'nitro-saved';
    const ask = (path: string, over: Record<string, string> = nitro) =>
      scenario.call(path, { host: null, headers: { 'x-service-provider': `@${slug}`, ...over } });
    const refusal = async (answer: Response) => {
      const { status: http, code, param } = await errorOf(answer);
      return [http, code, param];
    };
    beforeAll(() =>
      scenario.admin('POST', '/integrations', {
        name: 'Nitro',
        slug,
        ai_provider_id: 'openai',
        key: 'sk-saved',
        workspace_id: scenario.stack.credentials.workspace_id,
        configurations: { custom_host: `${scenario.upstream.url}/v1` },
        create_default_provider: true,
        default_provider_slug: slug,
      }),
    );

    it('sends its credential, and no responses: others’ objects may be named', async () => {
      scenario.upstream.handle(json(200, chatReply));
      expect((await ask('/v1/chat/completions')).status).toBe(200);
      const sent = scenario.upstream.requests.at(-1);
      expect(sent?.headers.authorization).toBe('Bearer sk-saved');
      const before = scenario.upstream.requests.length;
      expect(await refusal(await ask('/v1/responses'))).toEqual([
        400,
        'request.nitro_refused',
        'body',
      ]);
      expect(scenario.upstream.requests.length).toBe(before);
    });

    it.each([
      ['models', 'model', 'body.model'],
      ['users', 'metadata._user', 'body.user'],
    ])('is no way round policies by %s', async (_name, key, param) => {
      scenario.upstream.handle(json(200, chatReply));
      const { id } = await scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
        name: `by ${key}`,
        workspace_id: scenario.stack.credentials.workspace_id,
        type: 'requests',
        unit: 'rph',
        value: 1000,
        conditions: [{ key: 'metadata.team', value: 'nitro' }],
        group_by: [{ key }],
      });
      expect(await refusal(await ask('/v1/chat/completions'))).toEqual([
        400,
        'request.nitro_refused',
        param,
      ]);
      const named = { ...nitro, 'x-service-metadata': '{"_user":"u"}' };
      const withUser = await ask('/v1/chat/completions', named);
      expect(withUser.status).toBe(key === 'model' ? 400 : 200);
      await scenario.admin('DELETE', `/policies/rate-limits/${id}`);
      expect((await ask('/v1/chat/completions')).status).toBe(200);
    });

    it('is no way round the models that it is limited to', async () => {
      await scenario.admin('PUT', `/integrations/${slug}/models`, {
        models: [{ slug: 'gpt-4o-mini', enabled: true, is_custom: true }],
        allow_all_models: false,
      });
      await eventually(async () => {
        expect(await refusal(await ask('/v1/chat/completions'))).toEqual([
          403,
          'provider.model_unreadable',
          'body.model',
        ]);
      });
      expect((await ask('/v1/chat/completions', {})).status).toBe(200);
    });
  });
});
