import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { batchRowMapper, batchRowReader } from './batch-rows.ts';
import { LargeRow } from './large-rows.ts';
import type { RowOptions, UnifiedRow } from './unified-row.ts';

const here = new URL('.', import.meta.url).pathname;
const setting = (name: string) =>
  ({ 'aws-region': 'us-east-1', 'vertex-project-id': 'p' })[name as 'aws-region'];
const options: RowOptions = { setting, nowMs: 1_795_000_000_000 };

const chat = (model: string, id = 'a-1') => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: {
    model,
    messages: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Why is the sky blue?' },
    ],
    max_tokens: 50,
  },
});
const embedding = (model: string) => ({
  custom_id: 'e-1',
  method: 'POST',
  url: '/v1/embeddings',
  body: { model, input: 'blue' },
});
const message = (model: string) => ({
  custom_id: 'm-1',
  method: 'POST',
  url: '/v1/messages',
  body: { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
});

const claude = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content: [{ type: 'text', text: 'Rayleigh.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 21, output_tokens: 4 },
};
const converse = {
  output: { message: { role: 'assistant', content: [{ text: 'Rayleigh.' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 21, outputTokens: 4, totalTokens: 25 },
};
const gemini = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'Rayleigh.' }] }, finishReason: 'STOP', index: 0 },
  ],
  usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 4, totalTokenCount: 25 },
  modelVersion: 'gemini-2.5-flash',
};
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Rayleigh.' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 },
};

const lines: readonly [provider: string, name: string, line: object][] = [
  ['bedrock', 'chat', chat('anthropic.claude-3-haiku-20240307-v1:0')],
  ['bedrock', 'messages', message('amazon.nova-lite-v1:0')],
  ['bedrock', 'embeddings', embedding('amazon.titan-embed-text-v2:0')],
  ['vertex-ai', 'gemini', chat('gemini-2.5-flash')],
  ['vertex-ai', 'claude', chat('anthropic.claude-haiku-4-5')],
  ['vertex-ai', 'embeddings', embedding('text-embedding-005')],
  ['anthropic', 'chat', chat('claude-haiku-4-5')],
  ['anthropic', 'messages', message('claude-haiku-4-5')],
  ['mistral-ai', 'chat', chat('mistral-small-latest')],
  ['cohere', 'embeddings', embedding('embed-english-v3.0')],
];

const rows: readonly [provider: string, name: string, row: object][] = [
  ['bedrock', 'chat', { modelInput: {}, modelOutput: converse, recordId: 'a-1' }],
  ['bedrock', 'claude-invoked', { modelInput: {}, modelOutput: claude, recordId: 'a-1' }],
  [
    'bedrock',
    'error',
    { modelInput: {}, recordId: 'a-2', error: { errorCode: 400, errorMessage: 'bad input' } },
  ],
  [
    'bedrock',
    'embeddings',
    {
      modelInput: {},
      recordId: 'e-1',
      modelOutput: { embedding: [0.5, 1], inputTextTokenCount: 3 },
    },
  ],
  ['vertex-ai', 'gemini', { requestId: 'a-1', request: {}, status: '', response: gemini }],
  ['vertex-ai', 'claude', { custom_id: 'a-1', request: {}, status: '', response: claude }],
  [
    'vertex-ai',
    'error',
    {
      requestId: 'a-2',
      request: {},
      response: {},
      status: 'Bad Request: {"error":{"code":400,"message":"no"}}',
    },
  ],
  [
    'vertex-ai',
    'embeddings',
    {
      requestId: 'e-1',
      instance: { content: 'blue' },
      predictions: [{ embeddings: { statistics: { token_count: 3 }, values: [0.5, 1] } }],
    },
  ],
  ['anthropic', 'succeeded', { custom_id: 'a-1', result: { type: 'succeeded', message: claude } }],
  [
    'anthropic',
    'errored',
    {
      custom_id: 'a-2',
      result: {
        type: 'errored',
        error: {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'max_tokens: required' },
        },
      },
    },
  ],
  ['anthropic', 'expired', { custom_id: 'a-3', result: { type: 'expired' } }],
  [
    'mistral-ai',
    'chat',
    { id: 'b-0', custom_id: 'a-1', response: { status_code: 200, body: completion }, error: null },
  ],
  ['cohere', 'embeddings', { custom_id: 'e-1', text: 'blue', embeddings: { float: [0.5, 1] } }],
];

const openAiEmbeddings = {
  id: 'b-1',
  custom_id: 'e-1',
  response: {
    status_code: 200,
    request_id: 'r',
    body: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
      model: 'text-embedding-3-large',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
  },
  error: null,
};

const drawing = { type: 'image_generation_call', status: 'completed', result: 'Rayleigh.' };
const openAiPictures = {
  id: 'b-2',
  custom_id: 'i-1',
  response: {
    status_code: 200,
    request_id: 'r',
    body: {
      id: 'resp_1',
      object: 'response',
      model: 'gpt-5',
      output: [drawing, drawing],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    },
  },
  error: null,
};

describe('rows of batches', () => {
  it.each(lines)('a line becomes a row of %s: %s', async (provider, name, line) => {
    const map = batchRowMapper(provider, options);
    const row = map?.(Buffer.from(JSON.stringify(line)), 1);
    await expect(pretty(row)).toMatchFileSnapshot(golden(`in.${provider}.${name}`));
  });

  it.each(rows)('a row of results of %s becomes a line: %s', async (provider, name, row) => {
    const model = provider === 'bedrock' ? 'amazon.titan-embed-text-v2:0' : '';
    const read = batchRowReader(provider, { ...options, model })(Buffer.from(JSON.stringify(row)));
    const { bytes, ...facts } = read ?? { bytes: undefined };
    await expect(pretty(bytes)).toMatchFileSnapshot(golden(`out.${provider}.${name}`));
    await expect(`${JSON.stringify(facts, null, 2)}\n`).toMatchFileSnapshot(
      golden(`facts.${provider}.${name}`),
    );
  });

  it.each([
    ...rows.filter(([, name]) => !['error', 'errored', 'expired'].includes(name)),
    ['openai', 'embeddings', openAiEmbeddings],
    ['openai', 'pictures of a response', openAiPictures],
  ] as const)(
    'a row of %s that is too large tells whose it is, and what it used: %s',
    (provider, name, row) => {
      const model = provider === 'bedrock' ? 'amazon.titan-embed-text-v2:0' : '';
      const small = batchRowReader(provider, { ...options, model })(
        Buffer.from(JSON.stringify(row)),
      );
      const text = JSON.stringify(row)
        .replaceAll('Rayleigh.', 'x'.repeat(100_000))
        .replaceAll('[0.5,1]', JSON.stringify(new Array(30_000).fill(0.5)));
      const large = new LargeRow(provider, { ...options, model });
      for (const piece of [text.slice(0, 5_000), text.slice(5_000)]) large.add(Buffer.from(piece));
      const { bytes, ...read } = large.end() as UnifiedRow;
      // Of embeddings Vertex AI counts within the list.
      const isCountedInList = provider === 'vertex-ai' && name === 'embeddings';
      expect({ ...read, usage: read.facts.usage, units: read.facts.units }).toMatchObject({
        usage: isCountedInList ? undefined : small?.facts.usage,
        units: small?.facts.units,
        customId: small?.customId,
        endpoint: small?.endpoint,
        isSuccess: small?.isSuccess,
        status: small?.status,
      });
      expect(JSON.parse(String(bytes))).toMatchObject({
        custom_id: small?.customId,
        response: { status_code: 502, body: { error: { code: 'batch.answer_too_large' } } },
        error: null,
      });
    },
  );

  it('loses no row that has more in it than is parsed', () => {
    const numbers = `[${'0.5,'.repeat(1_000_000)}1]`;
    const row = JSON.stringify(openAiEmbeddings).replace('[0.5,1]', numbers);
    const read = batchRowReader('openai', options)(Buffer.from(row));
    expect(read).toMatchObject({ customId: 'e-1', isSuccess: true, endpoint: 'embed' });
    expect(read?.facts.usage).toMatchObject({ inputTokens: 3 });
    expect(read?.bytes.equals(Buffer.from(row))).toBe(true);
    const titan = batchRowReader('bedrock', { ...options, model: 'amazon.titan-embed-text-v2:0' });
    const large = titan(Buffer.from(JSON.stringify(rows[3]?.[2]).replace('[0.5,1]', numbers)));
    expect(large).toMatchObject({ customId: 'e-1', isSuccess: true, status: 200 });
    expect(large?.facts.usage).toMatchObject({ inputTokens: 3 });
    expect(String(large?.bytes)).toContain('batch.answer_too_large');
  });

  it('leaves OpenAI’s rows as they are, byte for byte', () => {
    for (const provider of ['openai', 'azure-openai', 'azure-ai', 'groq'])
      expect(batchRowMapper(provider, options)).toBeUndefined();
    const row = `{"custom_id":"é", "response":{"status_code":200,"body":${JSON.stringify(completion)}}, "error":null}`;
    const read = batchRowReader('openai', options)(Buffer.from(row));
    expect(read?.bytes.toString()).toBe(row);
    expect(read).toMatchObject({ customId: 'é', isSuccess: true, endpoint: 'chatComplete' });
    expect(read?.facts).toMatchObject({ usage: { inputTokens: 21, outputTokens: 4 } });
  });

  it('tells how much an answer says, also where it counts what cannot be true', () => {
    const usage = { ...completion.usage, completion_tokens: -4 };
    const row = {
      custom_id: 'a-1',
      response: { status_code: 200, body: { ...completion, usage } },
    };
    const read = (provider: string, told: unknown) =>
      batchRowReader(provider, options)(Buffer.from(JSON.stringify(told)))?.facts.saidBytes;
    expect(read('openai', row)).toBe('Rayleigh.'.length);
    expect(read('anthropic', rows[8]?.[2])).toBe('Rayleigh.'.length);
  });

  it.each([
    [
      'bedrock',
      {
        recordId: 'a-1',
        modelInput: { inputText: 'Why?' },
        modelOutput: { results: [{ outputText: 'Rayleigh.' }] },
      },
    ],
    [
      'bedrock',
      { recordId: 'a-1', modelInput: { prompt: 'Why?' }, modelOutput: { generation: 'Rayleigh.' } },
    ],
    [
      'vertex-ai',
      { requestId: 'a-1', request: {}, response: { predictions: [{ content: 'Rayleigh.' }] } },
    ],
    [
      'anthropic',
      { custom_id: 'a-1', result: { type: 'succeeded', message: { completion: 'Rayleigh.' } } },
    ],
    [
      'mistral-ai',
      { custom_id: 'a-1', response: { status_code: 200, body: { text: 'Rayleigh.' } } },
    ],
    ['openai', { custom_id: 'a-1', response: { status_code: 200, body: { text: 'Rayleigh.' } } }],
  ])(
    'knows that an answer of %s in other words than its endpoint’s is to be paid',
    (provider, row) => {
      const model = 'some-model';
      const read = batchRowReader(provider, { ...options, model })(
        Buffer.from(JSON.stringify(row)),
      );
      expect(read).toMatchObject({
        customId: 'a-1',
        isSuccess: true,
        facts: { saidBytes: 'Rayleigh.'.length },
      });
      expect(String(read?.bytes)).toContain('Rayleigh.');
    },
  );

  it('tells messages where messages were asked', () => {
    const row = Buffer.from(JSON.stringify(rows[8]?.[2]));
    const read = batchRowReader('anthropic', { ...options, endpoint: '/v1/messages' })(row);
    expect(JSON.parse(String(read?.bytes))).toMatchObject({ response: { body: claude } });
  });

  it.each([
    ['anthropic', { ...chat('claude-haiku-4-5'), custom_id: 'with space' }, 'line 7.custom_id'],
    ['anthropic', { ...chat('claude-haiku-4-5'), custom_id: undefined }, 'line 7.custom_id'],
    ['anthropic', embedding('claude-haiku-4-5'), 'line 7.url'],
    ['cohere', { ...embedding('m'), body: { model: 'm', input: ['a', 'b'] } }, 'line 7.body.input'],
    [
      'vertex-ai',
      { ...chat('gemini-2.5-flash'), body: { model: 'gemini-2.5-flash', messages: 5 } },
      'line 7.body.messages',
    ],
    ['bedrock', { ...chat('x'), body: { ...chat('x').body, stream: true } }, 'line 7.body.stream'],
    ['bedrock', { ...chat('x'), url: '/v1/moderations' }, 'line 7.url'],
  ])('refuses for %s what no row of it can say, at its line', (provider, line, field) => {
    const map = batchRowMapper(provider, options);
    const refused = caught(() => map?.(Buffer.from(JSON.stringify(line)), 7));
    expect(refused).toMatchObject({ code: 'request.invalid_field', field });
    expect(refused?.message).toContain('line 7');
  });

  it.each(['{', '[]', '"text"', ''])('refuses %j, which is no line', (line) => {
    const refused = caught(() => batchRowMapper('bedrock', options)?.(Buffer.from(line), 3));
    expect(refused?.field).toBe('line 3');
  });

  it.each(['bedrock', 'vertex-ai', 'anthropic', 'mistral-ai', 'cohere', 'openai'])(
    'is not surprised by rows of %s that are none',
    (provider) => {
      const read = batchRowReader(provider, options);
      for (const row of [
        '',
        '{',
        '[]',
        '{}',
        '{"custom_id":5}',
        '{"recordId":"a","modelOutput":7}',
      ])
        expect(() => read(Buffer.from(row))).not.toThrow();
      expect(read(Buffer.from('{}'))).toBeUndefined();
    },
  );
});

function golden(name: string): string {
  return `${here}fixtures/golden/${name}.json`;
}

function pretty(bytes: Uint8Array | undefined): string {
  return `${JSON.stringify(JSON.parse(Buffer.from(bytes ?? []).toString()), null, 2)}\n`;
}

function caught(run: () => unknown): GatewayError | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  return undefined;
}
