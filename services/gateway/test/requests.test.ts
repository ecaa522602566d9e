import { createHash } from 'node:crypto';
import { bytes, inTurns, json, sse } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chatBody,
  chatReply,
  errorOf,
  ledgerHolds,
  modes,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

const sha = (data: Uint8Array | string) => createHash('sha256').update(data).digest('hex');
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usageChunk = { ...chunk({}), choices: [], usage: chatReply.usage };
const streamEvents = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hé' }),
  chunk({ content: ' 👋' }),
  chunk({}, 'stop'),
  usageChunk,
  '[DONE]',
];

/** In the suite with what several gateways share (`npm run test:long`: in both modes). */
describe.each(inTurns(modes, modes.length, 1))('requests, %s', (_mode, options) => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await startScenario({ ...options, promptLedger: true });
  });
  afterAll(() => scenario.stop());

  describe('POST /v1/chat/completions', () => {
    it('passes a same-format call through byte for byte, both ways', async () => {
      const sent =
        '{ "messages":[{"role":"user","content":"h\\u00e9 \\ud83d\\udc4b"}],\n"model":"gpt-4o-mini","temperature":1.0e0,"x_unknown":{"b":1,"a":[1.10]},"x_unknown":2 }';
      const answered = Buffer.from(
        JSON.stringify(chatReply).replace(
          '"created":1700000000',
          '"created": 1.7e9, "unknown":{"z":1}',
        ),
      );
      scenario.upstream.handle(
        bytes(200, answered, { 'content-type': 'application/json', 'x-upstream': 'yes' }),
      );
      const seen = scenario.upstream.requests.length;
      const response = await scenario.chat({ rawBody: sent });
      expect(response.status).toBe(200);
      expect(sha(new Uint8Array(await response.arrayBuffer()))).toBe(sha(answered));
      const request = await scenario.upstream.received(seen + 1);
      expect(sha(request.body)).toBe(sha(sent));
      expect(request.path).toBe('/v1/chat/completions');
      expect(request.headers.authorization).toBe('Bearer sk-upstream');
      expect(Object.keys(request.headers).filter((name) => name.startsWith('x-service'))).toEqual(
        [],
      );
      expect(response.headers.get('x-upstream')).toBe('yes');
    });

    it('says how it was decided in the response headers', async () => {
      scenario.upstream.handle(json(200, chatReply));
      const response = await scenario.chat({ headers: { 'x-service-trace-id': 'trace-7' } });
      await response.arrayBuffer();
      const header = (name: string) => response.headers.get(`x-service-${name}`);
      expect(header('trace-id')).toBe('trace-7');
      expect(header('provider')).toBe('openai');
      expect(header('last-used-option-index')).toBe('config');
      expect(header('retry-attempt-count')).toBe('0');
      expect(header('cache-status')).toBe('DISABLED');
      expect(header('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('streams events as they are, and forwards each when it arrives', async () => {
      scenario.upstream.handle(sse(streamEvents, { delayMs: 150 }));
      const response = await scenario.chat({
        body: { ...chatBody, stream: true, stream_options: { include_usage: true } },
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      const arrivals: number[] = [];
      let text = '';
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
        arrivals.push(performance.now());
        text += Buffer.from(part).toString();
      }
      expect(text).toBe(
        streamEvents
          .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
          .join(''),
      );
      expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(300);
    });

    it('takes the provider from `@slug/model` and changes only the model in the body', async () => {
      const response = await scenario.chat({
        host: null,
        rawBody: '{"model":"@demo/gpt-4o-mini" , "messages":[{"role":"user","content":"Hi"}]}',
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        object: 'chat.completion',
        model: 'gpt-4o-mini',
      });
    });

    it('takes a saved provider by header', async () => {
      const response = await scenario.chat({
        host: null,
        headers: { 'x-service-provider': '@demo' },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-service-provider')).toBe('demo');
      await response.arrayBuffer();
    });

    it('takes the key from Authorization', async () => {
      const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${scenario.stack.credentials.workspace_key}`,
          'x-service-provider': '@demo',
          'content-type': 'application/json',
        },
        body: JSON.stringify(chatBody),
      });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    });

    it('keeps status and body of an upstream error', async () => {
      const vendorError = {
        error: { message: 'Slow down', type: 'rate_limit', param: null, code: 'x' },
      };
      scenario.upstream.handle(json(429, vendorError, { 'retry-after': '7' }));
      const response = await scenario.chat();
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('7');
      expect(await response.json()).toEqual(vendorError);
    });

    it('keeps code and parameter of an error that a stream begins with', async () => {
      const error = { message: 'Too long', type: 'invalid_request_error', param: 'messages' };
      const code = 'context_length_exceeded';
      const body = { ...chatBody, stream: true };
      scenario.upstream.handle(sse([{ error: { ...error, code } }]));
      const response = await scenario.chat({ body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { ...error, code } });
      // Of what is told by its code alone.
      scenario.upstream.handle(sse([{ error: { message: 'Too large', code: 'image_too_large' } }]));
      const other = await scenario.chat({ body });
      expect(other.status).toBe(400);
      expect(await other.json()).toMatchObject({ error: { code: 'image_too_large', param: null } });
      scenario.upstream.handle(
        sse([
          {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'No',
              details: { error_code: 'thread_not_found' },
            },
          },
        ]),
      );
      const messages = await scenario.call('/v1/messages', {
        body: { model: 'claude-sonnet-4', max_tokens: 5, stream: true, messages: body.messages },
        headers: { 'x-service-provider': 'anthropic' },
      });
      expect(messages.status).toBe(400);
      expect(await messages.json()).toMatchObject({
        error: {
          message: 'No',
          code: 'upstream.error',
          details: { error_code: 'thread_not_found' },
        },
      });
    });

    it('translates for Anthropic and back', async () => {
      scenario.upstream.handle(
        json(200, {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-sonnet-4',
          content: [{ type: 'text', text: 'Bonjour' }],
          stop_reason: 'end_turn',
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 90 },
        }),
      );
      const seen = scenario.upstream.requests.length;
      const response = await scenario.chat({
        headers: { 'x-service-provider': 'anthropic' },
        body: {
          model: 'claude-sonnet-4',
          max_tokens: 50,
          messages: [{ role: 'system', content: 'Be brief' }, ...chatBody.messages],
        },
      });
      expect(await response.json()).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant', content: 'Bonjour' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 },
      });
      const request = await scenario.upstream.received(seen + 1);
      expect(request.path).toBe('/v1/messages');
      expect(request.headers['x-api-key']).toBe('sk-upstream');
      expect(request.json()).toMatchObject({ max_tokens: 50, messages: [{ role: 'user' }] });
    });
  });

  describe('configs', () => {
    it('a saved config decides by slug, an inline one by JSON', async () => {
      scenario.upstream.handle(json(200, chatReply));
      const document = {
        targets: [
          {
            provider: 'openai',
            api_key: 'sk-config',
            custom_host: `${scenario.upstream.url}/v1`,
            override_params: { temperature: 0 },
          },
        ],
      };
      const created = await scenario.admin<{ data: { id: string } }>('POST', '/configs', {
        name: 'Main',
        config: document,
        workspace_id: scenario.stack.credentials.workspace_id,
      });
      const list = await scenario.admin<{ data: { id: string; slug: string }[] }>(
        'GET',
        `/configs?workspace_id=${scenario.stack.credentials.workspace_id}`,
      );
      const slug = list.data.find((config) => config.id === created.data.id)?.slug ?? '';
      for (const config of [slug, JSON.stringify(document)]) {
        const seen = scenario.upstream.requests.length;
        let response = await scenario.chat({ host: null, headers: { 'x-service-config': config } });
        // The new config reaches the gateway within a second.
        for (let tries = 0; response.status === 400 && tries < 10; tries++) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          response = await scenario.chat({ host: null, headers: { 'x-service-config': config } });
        }
        expect(response.status).toBe(200);
        expect(response.headers.get('x-service-last-used-option-index')).toBe('config.targets[0]');
        await response.arrayBuffer();
        const request = await scenario.upstream.received(seen + 1);
        expect(request.json()).toEqual({ ...chatBody, temperature: 0 });
        expect(request.headers.authorization).toBe('Bearer sk-config');
      }
    });
  });

  describe('POST /v1/embeddings', () => {
    it('passes through and is accounted for', async () => {
      const reply = {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
        model: 'text-embedding-3-small',
        usage: { prompt_tokens: 8, total_tokens: 8 },
      };
      scenario.upstream.handle(json(200, reply));
      const response = await scenario.call('/v1/embeddings', {
        body: { model: 'text-embedding-3-small', input: 'hello' },
      });
      expect(await response.json()).toEqual(reply);
    });
  });

  describe('pass-through', () => {
    it.each(['POST', 'PUT', 'DELETE', 'GET'])(
      '%s reaches the provider with path, query and credentials; GET and DELETE without a body',
      async (method) => {
        scenario.upstream.handle(json(201, { ok: true }, { 'x-custom': 'kept' }));
        const seen = scenario.upstream.requests.length;
        const hasBody = method === 'POST' || method === 'PUT';
        const response = await scenario.call('/v1/some/vendor/path?limit=2&x=%20y', {
          method,
          rawBody: method === 'GET' ? undefined : '{"a": 1.0}',
          headers: { 'x-other': 'forwarded' },
        });
        expect(response.status).toBe(201);
        expect(response.headers.get('x-custom')).toBe('kept');
        expect(await response.json()).toEqual({ ok: true });
        const request = await scenario.upstream.received(seen + 1);
        expect(request.method).toBe(method);
        expect(request.path).toBe('/v1/some/vendor/path?limit=2&x=%20y');
        expect(request.body.toString()).toBe(hasBody ? '{"a": 1.0}' : '');
        expect(request.headers).toMatchObject({
          authorization: 'Bearer sk-upstream',
          'x-other': 'forwarded',
        });
        expect(Object.keys(request.headers).filter((name) => name.startsWith('x-service'))).toEqual(
          [],
        );
      },
    );

    it('/v1/proxy forces it where the gateway has a route of its own', async () => {
      const odd = Buffer.from(
        '{"id":"x","usage":{"prompt_tokens":3,"completion_tokens":4},"n":1.50}',
      );
      scenario.upstream.handle(bytes(200, odd, { 'content-type': 'application/json' }));
      const seen = scenario.upstream.requests.length;
      const response = await scenario.call('/v1/proxy/chat/completions', {
        rawBody: '{"model":"m", "messages":[]}',
      });
      expect(sha(new Uint8Array(await response.arrayBuffer()))).toBe(sha(odd));
      expect((await scenario.upstream.received(seen + 1)).body.toString()).toBe(
        '{"model":"m", "messages":[]}',
      );
    });

    it('carries binary and multipart bodies unharmed', async () => {
      const data = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
      scenario.upstream.handle(bytes(200, data, { 'content-type': 'audio/mpeg' }));
      const seen = scenario.upstream.requests.length;
      const response = await scenario.call('/v1/files', {
        rawBody: data,
        headers: { 'content-type': 'application/octet-stream' },
      });
      expect(sha(new Uint8Array(await response.arrayBuffer()))).toBe(sha(data));
      expect(sha((await scenario.upstream.received(seen + 1)).body)).toBe(sha(data));
    });

    it('does not send the service key on when it came in Authorization', async () => {
      scenario.upstream.handle(json(200, {}));
      const seen = scenario.upstream.requests.length;
      const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/files`, {
        headers: {
          authorization: `Bearer ${scenario.stack.credentials.workspace_key}`,
          'x-service-provider': 'openai',
          'x-service-custom-host': `${scenario.upstream.url}/v1`,
        },
      });
      await response.arrayBuffer();
      const request = await scenario.upstream.received(seen + 1);
      expect(JSON.stringify(request.rawHeaders)).not.toContain(
        scenario.stack.credentials.workspace_key,
      );
    });

    it('sends no body where there was none', async () => {
      scenario.upstream.handle(json(200, {}));
      const seen = scenario.upstream.requests.length;
      await (await scenario.call('/v1/things/1', { method: 'PUT', rawBody: '' })).arrayBuffer();
      expect((await scenario.upstream.received(seen + 1)).body).toHaveLength(0);
    });

    it('does not follow redirects', async () => {
      scenario.upstream.handle(json(302, {}, { location: 'http://169.254.169.254/latest' }));
      const response = await scenario.call('/v1/redirecting', { method: 'GET' });
      expect(response.status).toBe(302);
    });
  });

  describe('GET /v1/models', () => {
    it('lists the upstream’s models when a provider is named', async () => {
      scenario.upstream.handle(
        json(200, { object: 'list', data: [{ id: 'm1', object: 'model' }] }),
      );
      const response = await scenario.call('/v1/models', { method: 'GET' });
      expect(await response.json()).toMatchObject({ data: [{ id: 'm1' }] });
    });

    it('lists the workspace’s own otherwise', async () => {
      const response = await scenario.call('/v1/models', { method: 'GET', host: null });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ object: 'list' });
    });
  });

  it('leaves one record a request, with tokens and cost', async () => {
    const before = await settledTotal(scenario);
    scenario.upstream.handle(json(200, chatReply));
    await (await scenario.chat()).arrayBuffer();
    await ledgerHolds(scenario, before + 1);
    const query = new URLSearchParams({
      time_of_generation_min: new Date(Date.now() - 60_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
      workspace_slug: scenario.stack.credentials.workspace_slug,
      ai_org_model: 'openai__gpt-4o-mini',
    });
    const cost = await scenario.admin<{ summary: { total: number } }>(
      'GET',
      `/analytics/graphs/cost?${query}`,
    );
    expect(cost.summary.total).toBeGreaterThan(0);
    const groups = await scenario.admin<{
      object: string;
      data: { ai_model: string; requests: string; object: string }[];
    }>('GET', `/analytics/groups/ai-models?${query}`);
    expect(groups.object).toBe('list');
    expect(groups.data[0]).toMatchObject({ ai_model: 'gpt-4o-mini', object: 'analytics-group' });
    expect(typeof groups.data[0]?.requests).toBe('string');
  });

  it('answers health without a key, and metrics on their own port only', async () => {
    const origin = scenario.stack.gatewayUrls[0];
    for (const path of ['/health', '/v1/health', '/health/live', '/health/ready'])
      expect((await fetch(`${origin}${path}`)).status).toBe(200);
    const metrics = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
    expect(metrics).toMatch(/request_count\{[^}]*endpoint="chatComplete"/);
    expect(metrics).toContain('sluice_config_connected');
    expect((await fetch(`${origin}/metrics`)).status).toBe(404);
  });

  it('answers 404 outside /v1', async () => {
    const response = await scenario.call('/nowhere', { method: 'GET' });
    expect(await errorOf(response)).toMatchObject({ status: 404, code: 'request.route_not_found' });
  });
});
