import Anthropic from '@anthropic-ai/sdk';
import { json } from '@sluice/testkit';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
let openai: OpenAI;
beforeAll(async () => {
  scenario = await startScenario();
  openai = new OpenAI({
    apiKey: scenario.stack.credentials.workspace_key,
    baseURL: scenario.stack.credentials.base_url,
    defaultHeaders: { 'x-service-provider': '@demo' },
    maxRetries: 0,
  });
});
afterAll(() => scenario.stop());

const messages = [{ role: 'user' as const, content: 'What is the weather in Paris?' }];
const tool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

describe('the openai client', () => {
  it('gets an answer', async () => {
    const completion = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages });
    expect(completion.choices[0]?.message.content).toBeTruthy();
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('reads a stream to its end', async () => {
    const stream = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let finish: string | null | undefined;
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect(text.length).toBeGreaterThan(0);
    expect(finish).toBe('stop');
    expect(tokens).toBeGreaterThan(0);
  });

  it('calls a tool and returns its result', async () => {
    const first = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      tools: [tool],
    });
    const call = first.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    if (call?.type !== 'function' || first.choices[0] === undefined)
      throw new Error('no tool call');
    expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
    const second = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      tools: [tool],
      messages: [
        ...messages,
        first.choices[0].message,
        { role: 'tool', tool_call_id: call.id, content: 'sunny' },
      ],
    });
    expect(second.choices[0]?.message.content).toBeTruthy();
  });

  it('makes embeddings', async () => {
    const result = await openai.embeddings.create({
      model: 'text-embedding-3-small',
      input: ['a', 'b'],
    });
    expect(result.data).toHaveLength(2);
    expect(result.data[0]?.embedding.length).toBeGreaterThan(10);
  });

  it('sees errors as errors of its own', async () => {
    await expect(
      openai.chat.completions.create({ model: 'demo-error-429', messages }),
    ).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const wrongKey = new OpenAI({
      apiKey: 'sl_nope',
      baseURL: scenario.stack.credentials.base_url,
      maxRetries: 0,
    });
    await expect(wrongKey.chat.completions.create({ model: 'm', messages })).rejects.toMatchObject({
      status: 401,
      code: 'auth.invalid_key',
    });
  });

  it('can leave a stream', async () => {
    const stream = await openai.chat.completions.create({
      model: 'demo-slow',
      messages,
      stream: true,
    });
    stream.controller.abort();
    await expect(
      openai.chat.completions.create({ model: 'gpt-4o-mini', messages }),
    ).resolves.toBeDefined();
  });
});

describe('clients that bring the addresses of their vendor', () => {
  const own = (provider: string, below: string, more: Record<string, string> = {}) => ({
    'x-service-api-key': scenario.stack.credentials.workspace_key,
    'x-service-provider': provider,
    'x-service-custom-host': `${scenario.upstream.url}${below}`,
    ...more,
  });
  const asked = () => {
    const { path, headers } = scenario.upstream.requests.at(-1) ?? {};
    return { path, key: headers?.['api-key'] ?? headers?.authorization };
  };
  const completion = json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  });

  it.each([
    ['its own version', '/v1/proxy', {}],
    [
      'its own version, where another is set',
      '/v1',
      { 'x-service-azure-api-version': '2024-10-21' },
    ],
  ])('Azure’s has its deployment, key and %s', async (_what, below, settings) => {
    scenario.upstream.handle(completion);
    const azure = new AzureOpenAI({
      apiKey: 'azure-key',
      apiVersion: '2025-04-01-preview',
      endpoint: `${scenario.stack.gatewayUrls[0]}${below}`,
      defaultHeaders: own('azure-openai', '/openai', settings),
      maxRetries: 0,
    });
    const answer = await azure.chat.completions.create({ model: 'gpt-4.1', messages });
    expect(answer.choices[0]?.message.content).toBe('Hi');
    expect(asked()).toEqual({
      path: '/openai/deployments/gpt-4.1/chat/completions?api-version=2025-04-01-preview',
      key: 'azure-key',
    });
  });

  it.each([
    ['azure-openai', '/openai', 'azure-key'],
    ['groq', '/openai/v1', 'Bearer azure-key'],
  ])('%s is asked at /openai/v1 once', async (provider, below, key) => {
    scenario.upstream.handle(completion);
    const client = new OpenAI({
      apiKey: 'azure-key',
      baseURL: `${scenario.stack.gatewayUrls[0]}/v1/proxy/openai/v1`,
      defaultHeaders: own(provider, below),
      maxRetries: 0,
    });
    await client.chat.completions.create({ model: 'm', messages });
    expect(asked()).toEqual({ path: '/openai/v1/chat/completions', key });
  });

  it('Groq’s and Azure’s clients find their paths at the root', async () => {
    scenario.upstream.handle(completion);
    const root = scenario.stack.gatewayUrls[0];
    // `groq-sdk` 1.6 appends `/openai/v1/…` to its base address.
    const groq = new OpenAI({
      apiKey: 'groq-key',
      baseURL: `${root}/openai/v1`,
      defaultHeaders: own('groq', '/openai/v1'),
      maxRetries: 0,
    });
    await groq.chat.completions.create({ model: 'm', messages });
    expect(asked()).toEqual({ path: '/openai/v1/chat/completions', key: 'Bearer groq-key' });
    const translated = new OpenAI({
      apiKey: scenario.stack.credentials.workspace_key,
      baseURL: `${root}/openai/v1`,
    });
    const answer = await translated.chat.completions.create({
      model: '@demo/claude-sonnet-4-5',
      messages,
    });
    expect(answer.choices[0]?.message.content).toContain('demo model');
    const azure = new AzureOpenAI({
      apiKey: 'azure-key',
      apiVersion: '2025-04-01-preview',
      endpoint: root,
      defaultHeaders: own('azure-openai', '/openai'),
      maxRetries: 0,
    });
    await azure.chat.completions.create({ model: 'gpt-4.1', messages });
    expect(asked()).toEqual({
      path: '/openai/deployments/gpt-4.1/chat/completions?api-version=2025-04-01-preview',
      key: 'azure-key',
    });
  });
});

describe('a tool call through anthropic', () => {
  const viaAnthropic = () =>
    new OpenAI({
      apiKey: 'sk-ant-any',
      baseURL: scenario.stack.credentials.base_url,
      maxRetries: 0,
      defaultHeaders: {
        'x-service-api-key': scenario.stack.credentials.workspace_key,
        'x-service-provider': 'anthropic',
        'x-service-custom-host': `${scenario.stack.demoUpstreamUrl}/v1`,
      },
    });

  it('is a function call where functions were asked for, unary, streamed and answered', async () => {
    const client = viaAnthropic();
    const body = {
      model: 'claude-sonnet-4-20250514',
      messages,
      functions: [tool.function],
      function_call: 'auto' as const,
    };
    const unary = await client.chat.completions.create(body);
    const [choice] = unary.choices;
    expect(choice?.finish_reason).toBe('function_call');
    const called = choice?.message.function_call;
    expect(called?.name).toBe('get_weather');
    expect(JSON.parse(called?.arguments ?? '')).toHaveProperty('city');

    const stream = client.chat.completions.stream(body);
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { function_call: { name: 'get_weather' } },
    });

    const then = await client.chat.completions.create({
      ...body,
      messages: [
        ...messages,
        choice!.message,
        { role: 'function' as const, name: 'get_weather', content: 'sunny' },
      ],
    });
    expect(then.choices[0]?.message.content).toBeTruthy();
    expect(then.choices[0]?.finish_reason).toBe('stop');
  });

  it('works with the openai client, unary and streamed', async () => {
    const client = viaAnthropic();
    const body = { model: 'claude-sonnet-4-20250514', messages, tools: [tool] };
    const unary = await client.chat.completions.create(body);
    expect(unary.choices[0]?.finish_reason).toBe('tool_calls');
    expect(unary.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { name: 'get_weather' },
    });

    const stream = await client.chat.completions.create({ ...body, stream: true });
    let args = '';
    let name: string | undefined;
    for await (const chunk of stream) {
      const call = chunk.choices[0]?.delta.tool_calls?.[0];
      name = call?.function?.name ?? name;
      args += call?.function?.arguments ?? '';
    }
    expect(name).toBe('get_weather');
    expect(JSON.parse(args)).toHaveProperty('city');
  });

  it('works with Anthropic’s own client on /v1/messages', async () => {
    const client = new Anthropic({
      apiKey: scenario.stack.credentials.workspace_key,
      baseURL: scenario.stack.credentials.base_url.replace(/\/v1$/, ''),
      maxRetries: 0,
      defaultHeaders: { 'x-service-provider': '@demo' },
    });
    const reply = await client.messages.create({
      model: 'claude-sonnet-4-20250514',
      max_tokens: 200,
      messages,
      tools: [
        {
          name: 'get_weather',
          input_schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          },
        },
      ],
    });
    expect(reply.stop_reason).toBe('tool_use');
    const stream = client.messages.stream({
      model: 'claude-sonnet-4-20250514',
      max_tokens: 200,
      messages,
    });
    const final = await stream.finalMessage();
    expect(final.content[0]).toMatchObject({ type: 'text' });
    expect(final.usage.output_tokens).toBeGreaterThan(0);
  });
});
