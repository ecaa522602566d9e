import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from './index.ts';

let demo: DemoUpstream;
let client: Anthropic;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  client = new Anthropic({ baseURL: demo.url, apiKey: 'none needed', maxRetries: 0 });
});
afterAll(() => demo.close());

const model = 'claude-demo';
const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('messages', () => {
  it('streams the same message that it answers whole', async () => {
    const request = {
      model,
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'Hello there' }],
    };
    const whole = await client.messages.create(request);
    expect(whole.content[0]).toMatchObject({
      type: 'text',
      text: expect.stringContaining('Hello there'),
    });
    expect(whole.stop_reason).toBe('end_turn');
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content[0]).toMatchObject({
      type: 'text',
      text: (whole.content[0] as Anthropic.TextBlock).text,
    });
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(streamed.stop_reason).toBe('end_turn');
  });

  it('uses a tool, and answers with its result', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Paris' }];
    const asked = await client.messages
      .stream({ model, max_tokens: 100, messages, tools: [weather] })
      .finalMessage();
    const call = asked.content[0] as Anthropic.ToolUseBlock;
    expect(asked.stop_reason).toBe('tool_use');
    expect(call).toMatchObject({ type: 'tool_use', name: 'get_weather', input: { city: 'Paris' } });
    messages.push(
      { role: 'assistant', content: asked.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call.id, content: '22 degrees' }],
      },
    );
    const answered = await client.messages.create({
      model,
      max_tokens: 100,
      messages,
      tools: [weather],
    });
    expect(answered.content[0]).toMatchObject({
      type: 'text',
      text: expect.stringContaining('22 degrees'),
    });
  });

  it('thinks first, with a signature, when thinking is enabled', async () => {
    const request = {
      model,
      max_tokens: 2000,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.content.map((block) => block.type)).toEqual(['thinking', 'text']);
    const whole = await client.messages.create(request);
    expect(streamed.content[0]).toMatchObject(
      whole.content[0] as unknown as Record<string, unknown>,
    );
  });

  it('counts tokens as it bills them', async () => {
    const messages = [{ role: 'user' as const, content: 'How many tokens is this?' }];
    const counted = await client.messages.countTokens({ model, messages });
    const answer = await client.messages.create({ model, max_tokens: 10, messages });
    expect(counted.input_tokens).toBe(answer.usage.input_tokens);
  });

  it('stops at max_tokens', async () => {
    const answer = await client.messages.create({
      model,
      max_tokens: 2,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.stop_reason).toBe('max_tokens');
  });
});

describe('refusals', () => {
  const post = (
    body: unknown,
    headers: Record<string, string> = { 'anthropic-version': '2023-06-01' },
  ) => fetch(`${demo.url}/v1/messages`, { method: 'POST', body: JSON.stringify(body), headers });

  it.each([
    [
      'max_tokens missing',
      { model, messages: [{ role: 'user', content: 'x' }] },
      'max_tokens: Field required',
    ],
    ['messages missing', { model, max_tokens: 1 }, 'messages: Field required'],
    [
      'a system role',
      { model, max_tokens: 1, messages: [{ role: 'system', content: 'x' }] },
      'Unexpected role',
    ],
  ])('%s: the vendor’s 400', async (_name, body, message) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
    });
  });

  it('wants the version header', async () => {
    expect((await post({ model, max_tokens: 1, messages: [] }, {})).status).toBe(400);
  });

  it('answers the status that the model name asks for', async () => {
    const ask = (name: string) =>
      client.messages.create({
        model: name,
        max_tokens: 1,
        messages: [{ role: 'user', content: 'x' }],
      });
    await expect(ask('demo-error-429')).rejects.toThrow(Anthropic.RateLimitError);
    await expect(ask('demo-error-529')).rejects.toMatchObject({
      status: 529,
      error: { error: { type: 'overloaded_error' } },
    });
  });
});
