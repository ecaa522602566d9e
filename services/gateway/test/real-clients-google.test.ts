import { randomBytes } from 'node:crypto';
import { ApiError, GoogleGenAI, type HttpOptions } from '@google/genai';
import { eventually, json, type RecordedRequest, sse } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { googleUploads } from './google-uploads.ts';
import { type Records, readRecords } from './records.ts';
import { type Scenario, startScenario } from './scenario.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let scenario: Scenario;
let records: Records;
const uploads = googleUploads();
beforeAll(async () => {
  scenario = await startScenario({ nats: true });
  records = await readRecords(scenario.stack.nats?.url ?? '');
  scenario.upstream.handle(answer);
});
afterAll(async () => {
  await records.close();
  await scenario.stop();
});

const usage = { promptTokenCount: 11, candidatesTokenCount: 5, totalTokenCount: 16 };

function fragment(parts: object[], more: object = {}): object {
  const candidate = { content: { role: 'model', parts }, index: 0, ...more };
  return { candidates: [candidate], modelVersion: 'gemini-2.5-flash', responseId: 'rsp1' };
}

interface GeminiBody {
  contents: { role: string; parts: Record<string, unknown>[] }[];
  tools?: object[];
}

/** A Gemini of the test's own: it speaks, draws, calls tools, fails and dawdles as the model's name and the prompt ask. */
function answer(request: RecordedRequest) {
  if (/^\/upload\//.test(request.path)) return uploads.answer(request);
  if (request.path.includes('broken'))
    return json(429, {
      error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' },
    });
  const body = request.json() as GeminiBody;
  const last = body.contents.at(-1)?.parts ?? [];
  const isAnswered = last.some((part) => 'functionResponse' in part);
  const hasImage = last.some((part) => 'inlineData' in part);
  const call = { functionCall: { name: 'get_weather', args: { city: 'Köln' } } };
  const parts = hasImage
    ? [{ text: 'A dot:' }, { inlineData: { mimeType: 'image/png', data: png } }]
    : body.tools !== undefined && !isAnswered
      ? [{ ...call, thoughtSignature: 'c2ln' }]
      : [{ text: 'Grüße ' }, { text: 'aus Köln 🌍' }];
  const end = { finishReason: 'STOP' };
  if (!request.path.includes(':streamGenerateContent'))
    return json(200, { ...fragment(parts, end), usageMetadata: usage });
  expect(request.path).toContain('alt=sse');
  const slow = request.path.includes('slow');
  const events = parts.map((part) => fragment([part]));
  return sse([...events, { ...fragment([], end), usageMetadata: usage }], {
    chunking: [7],
    ...(slow ? { stallAfter: 1 } : {}),
  });
}

const tool = {
  name: 'get_weather',
  description: 'Looks outside',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};

describe.each(['/v1/proxy', '/v1'])('the @google/genai client, passed through %s', (prefix) => {
  const client = () => {
    const { base_url, workspace_key } = scenario.stack.credentials;
    const httpOptions: HttpOptions = {
      baseUrl: base_url.replace(/\/v1$/, prefix),
      apiVersion: 'v1beta',
      headers: {
        'x-service-api-key': workspace_key,
        'x-service-provider': 'google',
        'x-service-custom-host': scenario.upstream.url,
      },
    };
    return new GoogleGenAI({ apiKey: 'AIza-caller', httpOptions });
  };

  it('gets an answer, with its own key and none of ours', async () => {
    const reply = await client().models.generateContent({
      model: 'gemini-2.5-flash',
      contents: 'Hello',
    });
    expect(reply.text).toBe('Grüße aus Köln 🌍');
    expect(reply.usageMetadata?.totalTokenCount).toBe(16);
    const sent = scenario.upstream.requests.at(-1);
    expect(sent?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(sent?.headers['x-goog-api-key']).toBe('AIza-caller');
    expect(JSON.stringify(sent?.rawHeaders)).not.toContain(
      scenario.stack.credentials.workspace_key,
    );
  });

  it('reads a stream to its end', async () => {
    const stream = await client().models.generateContentStream({
      model: 'gemini-2.5-flash',
      contents: 'Hello',
    });
    let text = '';
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.text ?? '';
      tokens = chunk.usageMetadata?.totalTokenCount ?? tokens;
    }
    expect([text, tokens]).toEqual(['Grüße aus Köln 🌍', 16]);
  });

  it('calls a tool, signed, and returns its result', async () => {
    const config = { tools: [{ functionDeclarations: [tool] }] };
    const model = 'gemini-3-flash-preview';
    const asked = { role: 'user', parts: [{ text: 'Weather?' }] };
    const first = await client().models.generateContent({ model, contents: [asked], config });
    expect(first.functionCalls).toEqual([{ name: 'get_weather', args: { city: 'Köln' } }]);
    const turn = first.candidates?.[0]?.content;
    const result = {
      role: 'user',
      parts: [{ functionResponse: { name: 'get_weather', response: { output: 'rain' } } }],
    };
    const contents = turn === undefined ? [] : [asked, turn, result];
    const second = await client().models.generateContent({ model, contents, config });
    expect(second.text).toContain('Köln');
    const sent = scenario.upstream.requests.at(-1)?.json() as GeminiBody;
    expect(sent.contents[1]?.parts[0]?.thoughtSignature).toBe('c2ln');
  });

  it('sends an image and gets one', async () => {
    const reply = await client().models.generateContent({
      model: 'gemini-2.5-flash-image',
      contents: [{ inlineData: { mimeType: 'image/png', data: png } }, { text: 'Again?' }],
    });
    expect(reply.data).toBe(png);
  });

  it.each([0.1, 20])('sends a file of %d MB up, piece by piece', async (megabytes) => {
    const sent = randomBytes(megabytes * 1024 * 1024);
    const before = scenario.upstream.requests.length;
    const made = await client().files.upload({
      file: new Blob([new Uint8Array(sent)]),
      config: { mimeType: 'text/plain', displayName: 'Notes' },
    });
    expect(made).toMatchObject({ name: expect.stringMatching(/^files\//), displayName: 'Notes' });
    expect(uploads.contentOf(made.name ?? '')?.equals(sent)).toBe(true);
    const requests = scenario.upstream.requests.slice(before);
    expect(requests).toHaveLength(1 + Math.ceil(megabytes / 8));
    for (const { headers, rawHeaders } of requests) {
      expect(headers['x-goog-api-key']).toBe('AIza-caller');
      expect(JSON.stringify(rawHeaders)).not.toContain(scenario.stack.credentials.workspace_key);
    }
  });

  it('sends a file up to a store of its own', async () => {
    const operation = await client().fileSearchStores.uploadToFileSearchStore({
      fileSearchStoreName: 'fileSearchStores/mine',
      file: new Blob(['abc']),
      config: { mimeType: 'text/plain' },
    });
    expect(operation.name).toMatch(/^fileSearchStores\/mine\/upload\/operations\//);
  });

  it('sees errors as errors of its own', async () => {
    const asking = client().models.generateContent({ model: 'broken', contents: 'Hello' });
    await expect(asking).rejects.toBeInstanceOf(ApiError);
    await expect(asking).rejects.toMatchObject({ status: 429 });
  });

  it('can leave a stream, and the upstream learns of it', async () => {
    const abort = new AbortController();
    const stream = await client().models.generateContentStream({
      model: 'slow',
      contents: 'Hello',
      config: { abortSignal: abort.signal },
    });
    const reading = (async () => {
      for await (const chunk of stream) if (chunk.text !== '') abort.abort();
    })();
    await expect(reading).rejects.toThrow();
    await eventually(() => {
      expect(scenario.upstream.requests.at(-1)?.aborted).toBe(true);
    });
  });
});

describe('what passes through to Gemini', () => {
  it.each([':generateContent', ':streamGenerateContent?alt=sse'])(
    'has its tokens counted at %s',
    async (method) => {
      const reply = await scenario.call(`/v1/proxy/v1beta/models/gemini-2.5-flash${method}`, {
        body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
        host: null,
        headers: {
          'x-service-provider': 'google',
          'x-service-custom-host': scenario.upstream.url,
          'x-goog-api-key': 'AIza-caller',
        },
      });
      expect(await reply.text()).toContain('Grüße');
      const [record] = await records.of(reply.headers.get('x-service-request-id') ?? '', 1);
      expect(record).toMatchObject({ usageReported: true, statusCode: 200 });
      expect([Number(record?.inputTokens), Number(record?.outputTokens)]).toEqual([11, 5]);
    },
  );

  it('does not carry the service key, whichever header it came in', async () => {
    const { workspace_key } = scenario.stack.credentials;
    await scenario.call('/v1/proxy/v1beta/models/gemini-2.5-flash:generateContent', {
      body: { contents: [] },
      host: null,
      headers: {
        'x-service-provider': 'google',
        'x-service-custom-host': scenario.upstream.url,
        'x-goog-api-key': workspace_key,
      },
    });
    const sent = JSON.stringify(scenario.upstream.requests.at(-1)?.rawHeaders);
    expect(sent).not.toContain(workspace_key);
  });
});

describe('the openai client, translated to Gemini', () => {
  const client = (strict = true) =>
    new OpenAI({
      apiKey: 'AIza-caller',
      baseURL: scenario.stack.credentials.base_url,
      maxRetries: 0,
      defaultHeaders: {
        'x-service-api-key': scenario.stack.credentials.workspace_key,
        'x-service-provider': 'google',
        'x-service-custom-host': scenario.upstream.url,
        ...(strict ? {} : { 'x-service-strict-open-ai-compliance': 'false' }),
      },
    });
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const tools = [
    {
      type: 'function' as const,
      function: { name: tool.name, parameters: tool.parametersJsonSchema },
    },
  ];

  it('gets an answer, with the key in its header', async () => {
    const reply = await client().chat.completions.create({ model: 'gemini-2.5-flash', messages });
    expect(reply.choices[0]).toMatchObject({
      message: { content: 'Grüße aus Köln 🌍' },
      finish_reason: 'stop',
    });
    expect(reply.usage?.total_tokens).toBe(16);
    const sent = scenario.upstream.requests.at(-1);
    expect(sent?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(sent?.headers['x-goog-api-key']).toBe('AIza-caller');
    expect(sent?.headers.authorization).toBeUndefined();
  });

  it('reads a stream to its end', async () => {
    const stream = await client().chat.completions.create({
      model: 'gemini-2.5-flash',
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
    expect([text, finish, tokens]).toEqual(['Grüße aus Köln 🌍', 'stop', 16]);
  });

  it.each([true, false])('calls a tool and returns its result, strict %s', async (strict) => {
    const model = 'gemini-3-flash-preview';
    const first = await client(strict).chat.completions.create({ model, messages, tools });
    const [choice] = first.choices;
    const call = choice?.message.tool_calls?.[0];
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(call).toMatchObject({ function: { name: 'get_weather', arguments: '{"city":"Köln"}' } });
    if (call === undefined || choice === undefined) throw new Error('no tool call');
    const second = await client(strict).chat.completions.create({
      model,
      tools,
      messages: [
        ...messages,
        choice.message,
        { role: 'tool', tool_call_id: call.id, content: 'rain' },
      ],
    });
    expect(second.choices[0]?.message.content).toContain('Köln');
    const sent = scenario.upstream.requests.at(-1)?.json() as GeminiBody;
    expect(sent.contents[1]?.parts[0]).toMatchObject({
      functionCall: { name: 'get_weather' },
      thoughtSignature: 'c2ln',
    });
    expect(sent.contents[2]?.parts[0]).toMatchObject({
      functionResponse: { name: 'get_weather', response: { output: 'rain' } },
    });
  });

  it('sends an image, and gets one where it is not strict', async () => {
    const reply = await client(false).chat.completions.create({
      model: 'gemini-2.5-flash-image',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Again?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          ],
        },
      ],
    });
    expect(reply.choices[0]?.message).toMatchObject({
      content: 'A dot:',
      content_blocks: [
        { type: 'text', text: 'A dot:' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      ],
    });
  });

  it('sees errors as errors of its own', async () => {
    await expect(
      client().chat.completions.create({ model: 'broken', messages }),
    ).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  it('can leave a stream, and the upstream learns of it', async () => {
    const stream = await client().chat.completions.create({
      model: 'slow',
      messages,
      stream: true,
    });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    stream.controller.abort();
    await eventually(() => {
      expect(scenario.upstream.requests.at(-1)?.aborted).toBe(true);
    });
  });
});
