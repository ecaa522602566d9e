import Anthropic from '@anthropic-ai/sdk';
import { json, refuseMessages, type UpstreamReply } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from './scenario.ts';
import {
  anthropicError,
  anthropicEvent,
  anthropicEvents,
  anthropicReply,
  openAiError,
  openAiEvents,
  openAiReply,
  stream,
} from './vendor-replies.ts';

/** Anthropic's own client, natively and with an openai-chat upstream behind it. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

type Provider = 'anthropic' | 'openai';

function clientOf(provider: Provider, apiKey = scenario.stack.credentials.workspace_key) {
  return new Anthropic({
    apiKey,
    baseURL: scenario.stack.gatewayUrls[0],
    maxRetries: 0,
    defaultHeaders: {
      'x-service-provider': provider,
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
    },
  });
}

/** What the upstream was asked last. */
function lastAsked(): { path: string; body: Record<string, unknown>; aborted: boolean } {
  const request = scenario.upstream.requests.at(-1);
  if (request === undefined) throw new Error('nothing was asked');
  return {
    path: request.path,
    body: request.json() as Record<string, unknown>,
    aborted: request.aborted,
  };
}

const model = 'claude-haiku-4-5';
const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
const body = { model, max_tokens: 600, messages: hello };
const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

/** Both providers say the same, each in its own words. */
const roads = [
  {
    provider: 'anthropic' as const,
    reply: anthropicReply,
    events: anthropicEvents('Hi', ' thére 😀'),
    limited: anthropicError(429, 'rate_limit_error', 'Slow down.'),
    toolReply: json(200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
        { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1000, output_tokens: 500 },
    }),
    toolTurns: [
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'rain', is_error: true },
        ],
      },
    ],
    imageTurn: {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
        { type: 'text', text: 'What is it?' },
      ],
    },
  },
  {
    provider: 'openai' as const,
    reply: openAiReply,
    events: openAiEvents('Hi', ' thére 😀'),
    limited: openAiError(429, 'rate_limit_exceeded'),
    toolReply: json(200, {
      ...chatReply,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: ['Paris', 'Rome'].map((city, index) => ({
              id: `toolu_${index + 1}`,
              type: 'function',
              function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
            })),
          },
          finish_reason: 'tool_calls',
        },
      ],
    }),
    toolTurns: [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'toolu_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
          },
          {
            id: 'toolu_2',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: rain' },
    ],
    imageTurn: {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
        { type: 'text', text: 'What is it?' },
      ],
    },
  },
];

describe.each(roads)('@anthropic-ai/sdk with $provider behind it', (road) => {
  const client = () => clientOf(road.provider);

  it('gets a message', async () => {
    scenario.upstream.handle(road.reply);
    const message = await client().messages.create(body);
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi there' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1000, output_tokens: 500 },
    });
  });

  it('reads a stream by its helper, cut within characters', async () => {
    scenario.upstream.handle(stream(road.events, { chunking: [7, 1, 30] }));
    const texts: string[] = [];
    const final = await client()
      .messages.stream(body)
      .on('text', (text) => texts.push(text))
      .finalMessage();
    expect(texts.join('')).toBe('Hi thére 😀');
    expect(final).toMatchObject({
      content: [{ type: 'text', text: 'Hi thére 😀' }],
      stop_reason: 'end_turn',
      usage: { output_tokens: 500 },
    });
  });

  it('iterates a raw stream to its end', async () => {
    scenario.upstream.handle(stream(road.events));
    const types: string[] = [];
    for await (const event of await client().messages.create({ ...body, stream: true }))
      types.push(event.type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('has tools called, two at once, and returns their results', async () => {
    scenario.upstream.handle(road.toolReply);
    const first = await client().messages.create({ ...body, tools: [weather] });
    expect(first.stop_reason).toBe('tool_use');
    const calls = first.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ id, input }) => [id, input])).toEqual([
      ['toolu_1', { city: 'Paris' }],
      ['toolu_2', { city: 'Rome' }],
    ]);
    scenario.upstream.handle(road.reply);
    const second = await client().messages.create({
      ...body,
      tools: [weather],
      messages: [
        ...hello,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'rain', is_error: true },
          ],
        },
      ],
    });
    expect(second.stop_reason).toBe('end_turn');
    expect((lastAsked().body.messages as object[]).slice(1)).toEqual(road.toolTurns);
  });

  it('sends an image', async () => {
    scenario.upstream.handle(road.reply);
    await client().messages.create({
      ...body,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    expect(lastAsked().body.messages).toEqual([road.imageTurn]);
  });

  it('sees errors as errors of its own', async () => {
    scenario.upstream.handle(road.limited);
    const limited = client().messages.create(body);
    await expect(limited).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    await expect(limited).rejects.toMatchObject({
      status: 429,
      error: { type: 'error', error: { type: 'rate_limit_error' } },
    });
    const wrongKey = clientOf(road.provider, 'sl_nope').messages.create(body);
    await expect(wrongKey).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });

  it('sees a stream that breaks as an error, not as a short answer', async () => {
    scenario.upstream.handle(stream(road.events, { cutAfter: 4 }));
    const broken = client().messages.stream(body).finalMessage();
    await expect(broken).rejects.toBeInstanceOf(Anthropic.APIError);
    await expect(broken).rejects.toMatchObject({ type: 'api_error' });
  });

  it('can leave a stream, which ends it at the provider', async () => {
    const asked = scenario.upstream.requests.length;
    scenario.upstream.handle(stream(road.events, { stallAfter: 4 }));
    const leaving = client().messages.stream(body);
    leaving.on('text', () => leaving.abort());
    await expect(leaving.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await scenario.upstream.received(asked + 1);
    await expect.poll(() => scenario.upstream.requests[asked]?.aborted).toBe(true);
  });
});

it('is served where a config sets what the version that it asks for refuses', async () => {
  const config = { override_params: { temperature: 0.3 }, default_params: { top_p: 0.5 } };
  scenario.upstream.handle((request) => {
    const version = String(request.headers['anthropic-version']);
    const refusal = refuseMessages(request.json(), { version });
    return refusal === undefined ? anthropicReply : json(refusal.status, refusal.body);
  });
  const client = clientOf('anthropic').withOptions({
    defaultHeaders: {
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
      'x-service-config': JSON.stringify({ ...config, provider: 'anthropic' }),
    },
  });
  const { response } = await client.messages.create(body).withResponse();
  expect(response.headers.get('x-service-dropped-params')).toBe('temperature,top_p');
  expect(scenario.upstream.requests.at(-1)?.headers['anthropic-version']).toBe('2026-10-21');
  const old = { 'anthropic-version': '2023-06-01' };
  const before = await client.messages.create(body, { headers: old }).withResponse();
  expect(before.response.headers.get('x-service-dropped-params')).toBe('top_p');
  expect(lastAsked().body).toMatchObject({ temperature: 0.3 });
});

it('is asked by the version and the betas that a config names, whatever its client sends', async () => {
  scenario.upstream.handle(anthropicReply);
  const client = clientOf('anthropic').withOptions({
    defaultHeaders: {
      'anthropic-beta': 'a-2026-01-01, b-2026-01-01',
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
      'x-service-config': JSON.stringify({
        provider: 'anthropic',
        anthropic_version: '2023-06-01',
        anthropic_beta: 'c-2026-01-01,a-2026-01-01',
        override_params: { temperature: 0.3 },
      }),
    },
  });
  const { response } = await client.messages.create(body).withResponse();
  expect(response.headers.get('x-service-dropped-params')).toBeNull();
  expect(lastAsked().body).toMatchObject({ temperature: 0.3 });
  expect(scenario.upstream.requests.at(-1)?.headers).toMatchObject({
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'c-2026-01-01,a-2026-01-01,b-2026-01-01',
  });
});

describe('countTokens', () => {
  it('asks the provider, with the request as it is', async () => {
    scenario.upstream.handle(json(200, { input_tokens: 12 }));
    const counted = await clientOf('anthropic').messages.countTokens({
      model,
      messages: hello,
      tools: [weather],
    });
    expect(counted.input_tokens).toBe(12);
    expect(lastAsked()).toMatchObject({
      path: '/v1/messages/count_tokens',
      body: { model, messages: hello, tools: [weather] },
    });
  });

  it('tells a refusal of ours as the client reads it', async () => {
    const refused = await clientOf('anthropic')
      .messages.countTokens({ model, messages: hello }, { headers: { 'x-service-config': '{' } })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError);
    expect((refused as InstanceType<typeof Anthropic.BadRequestError>).error).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'config.invalid' },
    });
  });
});

describe('models', () => {
  const all = ['claude-a', 'claude-b', 'claude-c'].map((id) => ({
    type: 'model',
    id,
    display_name: id.toUpperCase(),
    created_at: '2026-02-04T00:00:00Z',
    max_input_tokens: 200_000,
    capabilities: { batch: { supported: true } },
  }));

  it('are listed page by page, with all that is told of them', async () => {
    scenario.upstream.handle(({ path }) => {
      const query = new URL(path, 'http://vendor').searchParams;
      const start = all.findIndex(({ id }) => id === query.get('after_id')) + 1;
      const data = all.slice(start, start + Number(query.get('limit')));
      const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
      const has_more = last !== 'claude-c';
      // As the vendor has it, of two limits none holds.
      if (query.getAll('limit').length > 1)
        return json(400, { type: 'error', error: { type: 'invalid_request_error', message: '' } });
      return json(200, { data, has_more, first_id: first, last_id: last });
    });
    const found = [];
    for await (const one of clientOf('anthropic').models.list({ limit: 2 })) found.push(one);
    expect(found).toMatchObject(all);
    const asked = scenario.upstream.requests.slice(-2).map(({ path }) => path);
    expect(asked).toEqual(['/v1/models?limit=2', '/v1/models?limit=2&after_id=claude-b']);
    expect((await clientOf('anthropic').models.list()).data).toMatchObject(all);
    expect(scenario.upstream.requests.at(-1)?.path).toBe('/v1/models?limit=1000');
  });
});

/** What a model thought before it called a tool; the signatures are not to be touched. */
const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk/+i==';
const thought = [
  { type: 'thinking', thinking: 'The user wánts\nthe weather.', signature },
  { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw' },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
];
const thinkingReply = json(200, {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: thought,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 20 },
});
const thinkingStream: UpstreamReply = stream(
  [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    ...['The user wánts', '\nthe weather.'].map((thinking) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking },
    })),
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: thought[1] },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { ...thought[2], input: {} } },
    ...['{"city":', '"Paris"}'].map((partial_json) => ({
      type: 'content_block_delta',
      index: 2,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 2 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: 'message_stop' },
  ].map(anthropicEvent),
  { chunking: [11, 3] },
);

describe('thinking goes round with its signatures', () => {
  const thinking = { thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
  const ask = { ...body, max_tokens: 4000, tools: [weather], ...thinking };
  const result: Anthropic.MessageParam = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }],
  };

  it.each([
    ['answer', thinkingReply, (client: Anthropic) => client.messages.create(ask)],
    ['stream', thinkingStream, (client: Anthropic) => client.messages.stream(ask).finalMessage()],
  ])('with Anthropic’s client, from a whole %s', async (_name, reply, first) => {
    scenario.upstream.handle(reply);
    const { content } = await first(clientOf('anthropic'));
    expect(content).toEqual(thought);
    scenario.upstream.handle(anthropicReply);
    await clientOf('anthropic').messages.create({
      ...ask,
      messages: [...hello, { role: 'assistant', content }, result],
    });
    expect(lastAsked().body).toEqual({
      ...ask,
      messages: [...hello, { role: 'assistant', content: thought }, result],
    });
  });

  /** A chat client that asked for all there is. */
  const chatClient = () =>
    new OpenAI({
      apiKey: scenario.stack.credentials.workspace_key,
      baseURL: scenario.stack.credentials.base_url,
      maxRetries: 0,
      defaultHeaders: {
        'x-service-provider': 'anthropic',
        'x-service-custom-host': `${scenario.upstream.url}/v1`,
        'x-service-strict-open-ai-compliance': 'false',
      },
    });
  const chatAsk = {
    model,
    max_tokens: 4000,
    messages: [{ role: 'user' as const, content: 'Hello' }],
    tools: [
      {
        type: 'function' as const,
        function: { name: weather.name, parameters: weather.input_schema },
      },
    ],
    reasoning_effort: 'low' as const,
  };

  async function expectBack(message: object): Promise<void> {
    scenario.upstream.handle(anthropicReply);
    await chatClient().chat.completions.create({
      ...chatAsk,
      messages: [
        ...chatAsk.messages,
        message as OpenAI.ChatCompletionAssistantMessageParam,
        { role: 'tool', tool_call_id: 'toolu_1', content: 'sunny' },
      ],
    });
    expect((lastAsked().body.messages as object[])[1]).toEqual({
      role: 'assistant',
      content: thought,
    });
  }

  it('with a chat client, from a whole answer sent back as it came', async () => {
    scenario.upstream.handle(thinkingReply);
    const first = await chatClient().chat.completions.create(chatAsk);
    const message = first.choices[0]?.message;
    expect(message).toMatchObject({ content_blocks: thought.slice(0, 2) });
    await expectBack(message ?? {});
  });

  it('with a chat client, from a stream put together by block', async () => {
    scenario.upstream.handle(thinkingStream);
    const chunks = await chatClient().chat.completions.create({ ...chatAsk, stream: true });
    const blocks: Record<string, string>[] = [];
    const call = { id: '', name: '', arguments: '' };
    for await (const chunk of chunks) {
      const delta = chunk.choices[0]?.delta as OpenAI.ChatCompletionChunk.Choice.Delta & {
        content_blocks?: { index: number; delta: Record<string, string> }[];
      };
      for (const block of delta?.content_blocks ?? []) {
        blocks[block.index] ??= {};
        const kept = blocks[block.index] as Record<string, string>;
        for (const [name, text] of Object.entries(block.delta))
          kept[name] = (kept[name] ?? '') + text;
      }
      const piece = delta?.tool_calls?.[0];
      call.id = piece?.id ?? call.id;
      call.name += piece?.function?.name ?? '';
      call.arguments += piece?.function?.arguments ?? '';
    }
    await expectBack({
      role: 'assistant',
      content: null,
      content_blocks: blocks.map((block) => ({
        type: 'thinking' in block ? 'thinking' : 'redacted_thinking',
        ...block,
      })),
      tool_calls: [
        { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } },
      ],
    });
  });
});
