import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from './index.ts';

let demo: DemoUpstream;
let client: OpenAI;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none needed', maxRetries: 0 });
});
afterAll(() => demo.close());

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
      },
      required: ['city', 'unit'],
    },
  },
};

describe('chat completions', () => {
  it('answers any model, with usage that adds up, the same each time', async () => {
    const ask = () =>
      client.chat.completions.create({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hello there' }],
      });
    const first = await ask();
    expect(first.choices[0]?.message.content).toContain('Hello there');
    expect(first.choices[0]?.finish_reason).toBe('stop');
    expect(first.usage?.total_tokens).toBe(
      (first.usage?.prompt_tokens ?? 0) + (first.usage?.completion_tokens ?? 0),
    );
    expect(await ask()).toEqual(first);
  });

  it('streams the words of the same answer, with usage only when asked for', async () => {
    const request = {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user' as const, content: 'Hello there' }],
    };
    const whole = await client.chat.completions.create(request);
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      whole.choices[0]?.message.content,
    );
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
    const plain = await collect(await client.chat.completions.create({ ...request, stream: true }));
    expect(plain.every((chunk) => chunk.usage === undefined)).toBe(true);
  });

  it('calls a tool with arguments that fit its schema, and answers with the result', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Paris' }];
    const asked = await client.chat.completions.create({
      model: 'gpt-4o',
      messages,
      tools: [weather],
    });
    const message = asked.choices[0]!.message;
    const call = message.tool_calls![0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Paris', unit: 'celsius' });
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: '22 degrees' });
    const answered = await client.chat.completions.create({
      model: 'gpt-4o',
      messages,
      tools: [weather],
    });
    expect(answered.choices[0]?.message.content).toContain('22 degrees');
  });

  it('streams tool calls that the client puts together', async () => {
    const stream = client.chat.completions.stream({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Oslo' }],
      tools: [weather],
    });
    const final = await stream.finalChatCompletion();
    const call = final.choices[0]?.message
      .tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Oslo', unit: 'celsius' });
  });

  it('cuts the answer at max_tokens and says so', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      max_tokens: 2,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.choices[0]?.finish_reason).toBe('length');
    expect(answer.usage?.completion_tokens).toBe(2);
  });

  it('sends exactly the number of text events that the model name or header asks for', async () => {
    const count = async (model: string, headers = {}) => {
      const stream = await client.chat.completions.create(
        { model, stream: true, messages: [{ role: 'user', content: 'x' }] },
        { headers },
      );
      return (await collect(stream)).filter((chunk) => chunk.choices[0]?.delta.content).length;
    };
    expect(await count('demo-100-events')).toBe(100);
    expect(await count('gpt-4o', { 'x-demo-events': '7' })).toBe(7);
    expect(await count('demo-fast')).toBe(1);
  });

  it('answers JSON when the response format asks for it', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'n',
          schema: { type: 'object', properties: { age: { type: 'integer' } } },
        },
      },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ age: 1 });
  });
});

describe('refusals', () => {
  const post = (path: string, body: string) =>
    fetch(`${demo.url}${path}`, { method: 'POST', body });

  it.each([
    ['no JSON', '{', 400, null],
    ['no model', '{"messages":[]}', 400, null],
    ['no messages', '{"model":"x"}', 400, 'messages'],
    ['messages of a wrong type', '{"model":"x","messages":"hi"}', 400, 'messages'],
    [
      'an unknown role',
      '{"model":"x","messages":[{"role":"boss","content":"hi"}]}',
      400,
      'messages[0].role',
    ],
  ])('%s: the vendor’s 400', async (_name, body, status, param) => {
    const response = await post('/v1/chat/completions', body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param },
    });
  });

  it('answers the status that the model name asks for, as the client’s own error class', async () => {
    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] });
    await expect(ask('demo-error-429')).rejects.toThrow(OpenAI.RateLimitError);
    await expect(ask('demo-error-500')).rejects.toThrow(OpenAI.InternalServerError);
    await expect(ask('demo-error-503')).rejects.toMatchObject({ status: 503 });
  });

  it('answers an unknown path with 404', async () => {
    expect((await post('/v1/nothing', '{}')).status).toBe(404);
  });
});

describe('embeddings', () => {
  it('gives equal texts equal unit vectors, through the client’s base64 as through floats', async () => {
    const create = (encoding_format?: 'float') =>
      client.embeddings.create({
        model: 'text-embedding-3-small',
        input: ['a', 'b', 'a'],
        dimensions: 64,
        encoding_format,
      });
    const [base64, float] = await Promise.all([create(), create('float')]);
    const vectors = base64.data.map((item) => item.embedding);
    expect(vectors[0]).toHaveLength(64);
    expect(vectors[0]).toEqual(vectors[2]);
    expect(vectors[0]).not.toEqual(vectors[1]);
    expect(Math.hypot(...(vectors[0] as number[]))).toBeCloseTo(1, 5);
    expect(float.data[0]?.embedding.map(Math.fround)).toEqual(vectors[0]!.map(Math.fround));
  });
});

it('completes text, whole and streamed', async () => {
  const request = { model: 'gpt-3.5-turbo-instruct', prompt: 'Once' };
  const whole = await client.completions.create(request);
  const stream = await collect(await client.completions.create({ ...request, stream: true }));
  expect(stream.map((chunk) => chunk.choices[0]?.text ?? '').join('')).toBe(whole.choices[0]?.text);
});

it('lists models', async () => {
  const models = await client.models.list();
  expect(models.data.map((model) => model.id)).toContain('gpt-4o-mini');
});

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
