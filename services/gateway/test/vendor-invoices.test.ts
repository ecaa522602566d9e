import { bytes, json, sse, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awsEvent, awsStreamHeaders } from './aws-frame.ts';
import { type Lab, startLab } from './lab.ts';

/**
 * What vendors charge for beside the tokens of an answer, and where they tell it: each expected cost is reckoned here,
 * by the vendor's list and rule, in nano-dollars.
 */

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

interface Asking {
  path: string;
  body: object | FormData;
  target: object;
  reply: UpstreamReply;
}

interface Billed {
  costNanoUsd: number | null;
  tokens: [number, number];
  units: Record<string, number>;
  unpriced: string;
  isEstimated: boolean;
  status: number;
}

async function billOf({ path, body, target, reply }: Asking): Promise<Billed> {
  const trial = lab.trial();
  try {
    const upstream = await trial.upstream('vendor', reply);
    const config = upstream.target(target);
    const sent = body instanceof FormData ? await bytesOfForm(body) : { body };
    const { rawRecords } = await trial.ask({ config, records: 1, path, ...sent });
    const [record] = rawRecords;
    if (record === undefined) throw new Error('no record came');
    return {
      costNanoUsd: record.costKnown ? Number(record.costNanoUsd) : null,
      tokens: [Number(record.inputTokens), Number(record.outputTokens)],
      units: Object.fromEntries(Object.entries(record.units).map(([name, n]) => [name, Number(n)])),
      unpriced: record.unpricedUnits,
      isEstimated: record.usageEstimated,
      status: record.statusCode,
    };
  } finally {
    await trial.close();
  }
}

async function bytesOfForm(form: FormData) {
  const encoded = new Response(form);
  return {
    rawBody: Buffer.from(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  };
}

/** A search, or one of the calls of a thousand that cost so many dollars. */
const perThousand = (dollars: number) => dollars * 1_000_000;

const lines = (...documents: object[]) =>
  documents.map((document) => `${JSON.stringify(document)}\n`).join('');
const event = (document: { type?: string }) => `data: ${JSON.stringify(document)}\n\n`;

describe.concurrent('interactions at Google', () => {
  const path = '/v1/proxy/v1beta/interactions';
  const target = { provider: 'google' };
  const interaction = (model: string, usage: object, more: object = {}) => ({
    id: 'v1_1',
    status: 'completed',
    model,
    steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Here.' }] }],
    usage,
    ...more,
  });

  it('have pictures and sound at their own prices', async () => {
    const model = 'gemini-3-pro-image-preview';
    const reply = json(
      200,
      interaction(model, {
        total_input_tokens: 10,
        total_output_tokens: 1130,
        total_tokens: 1140,
        output_tokens_by_modality: [
          { modality: 'text', tokens: 10 },
          { modality: 'image', tokens: 1120 },
        ],
      }),
    );
    expect(await billOf({ path, target, body: { model, input: 'Draw' }, reply })).toMatchObject({
      tokens: [10, 1130],
      costNanoUsd: 10 * 2000 + 10 * 12_000 + 1120 * 120_000,
    });
    const flash = 'gemini-3-flash-preview';
    const heard = json(
      200,
      interaction(flash, {
        total_input_tokens: 110,
        total_output_tokens: 50,
        total_tokens: 160,
        input_tokens_by_modality: [{ modality: 'audio', tokens: 100 }],
      }),
    );
    const body = { model: flash, input: 'Listen' };
    expect(await billOf({ path, target, body, reply: heard })).toMatchObject({
      costNanoUsd: 10 * 500 + 100 * 1000 + 50 * 3000,
    });
  });

  const usage = { total_input_tokens: 100, total_output_tokens: 50, total_tokens: 150 };
  const found = { ...usage, grounding_tool_count: [{ type: 'google_search', count: 3 }] };
  it.each([
    // Each search since the third generation; before, a reply that rests on any.
    ['gemini-3-flash-preview', 100 * 500 + 50 * 3000 + 3 * perThousand(14)],
    ['gemini-2.5-flash', 100 * 300 + 50 * 2500 + perThousand(35)],
  ])('have their searches: %s', async (model, costNanoUsd) => {
    const reply = json(200, interaction(model, found));
    const body = { model, input: 'Who won?' };
    expect(await billOf({ path, target, body, reply })).toMatchObject({ costNanoUsd });
  });

  it('have all of it where they are streamed, too', async () => {
    const model = 'gemini-3-flash-preview';
    const counted = { ...usage, grounding_tool_count: [{ type: 'google_maps', count: 1 }] };
    const done = interaction(model, counted, { service_tier: 'flex' });
    const reply = sse([
      event({ event_type: 'interaction.created', interaction: { id: 'v1_1', model } } as object),
      event({ event_type: 'interaction.completed', interaction: done } as object),
    ]);
    const body = { model, input: 'Where?', stream: true };
    expect(await billOf({ path, target, body, reply })).toMatchObject({
      costNanoUsd: (100 * 500 + 50 * 3000) / 2 + perThousand(14),
    });
  });
});

describe.concurrent('tools that vendors run', () => {
  it('are searches of files that came along, at xAI', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      server_side_tool_usage_details: {
        web_search_calls: 1,
        file_search_calls: 2,
        mcp_calls: 4,
        document_search_calls: 3,
      },
    };
    const message = { role: 'assistant', content: 'Here.' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const body = { model: 'grok-4', messages: [{ role: 'user', content: 'Who won?' }] };
    const bill = await billOf({
      path: '/v1/chat/completions',
      target: { provider: 'x-ai' },
      body,
      reply: json(200, { id: 'a', object: 'chat.completion', model: 'grok-4', choices, usage }),
    });
    expect(bill).toMatchObject({
      units: { web_search: 1, file_search: 2, attachment_search: 3 },
      costNanoUsd:
        100 * 3000 + 50 * 15_000 + perThousand(5) + 2 * perThousand(2.5) + 3 * perThousand(10),
    });
  });

  const searched = (model: string, type: string) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model,
    output: [
      { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search' } },
      {
        type: 'message',
        id: 'm',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'x' }],
      },
    ],
    tools: [{ type }],
    usage: { input_tokens: 300, output_tokens: 100, total_tokens: 400 },
  });
  it.each([
    // Models that do not reason have a price of their own for the tool that came before today's.
    ['gpt-4o', 'web_search_preview', 300 * 2500 + 100 * 10_000 + perThousand(25)],
    ['gpt-4.1', 'web_search_preview_2025_03_11', 300 * 2000 + 100 * 8000 + perThousand(25)],
    ['gpt-4o', 'web_search', 300 * 2500 + 100 * 10_000 + perThousand(10)],
    ['gpt-5', 'web_search_preview', 300 * 1250 + 100 * 10_000 + perThousand(10)],
  ])('are searches of the web at OpenAI: %s by %s', async (model, type, costNanoUsd) => {
    const whole = searched(model, type);
    const asking = {
      path: '/v1/responses',
      target: {},
      body: { model, input: 'Who won?', tools: [{ type }] },
    };
    expect(await billOf({ ...asking, reply: json(200, whole) })).toMatchObject({ costNanoUsd });
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    const stream = sse([
      event({ type: 'response.created', response: begun } as object),
      event({
        type: 'response.output_item.done',
        output_index: 0,
        item: whole.output[0],
      } as object),
      event({ type: 'response.completed', response: whole } as object),
    ]);
    const body = { ...asking.body, stream: true };
    expect(await billOf({ ...asking, body, reply: stream })).toMatchObject({ costNanoUsd });
  });

  it('are connectors of Mistral’s, which read tokens beside the prompt', async () => {
    const bill = await billOf({
      path: '/v1/proxy/conversations',
      target: { provider: 'mistral-ai' },
      body: { model: 'mistral-medium-latest', inputs: 'Who won?' },
      reply: json(200, {
        conversation_id: 'conv_1',
        outputs: [],
        usage: {
          prompt_tokens: 188,
          completion_tokens: 55,
          total_tokens: 7355,
          connector_tokens: 7112,
          connectors: { web_search: 1 },
        },
      }),
    });
    expect(bill).toMatchObject({
      tokens: [7300, 55],
      costNanoUsd: 7300 * 1500 + 55 * 7500,
      unpriced: 'web_search',
    });
  });

  const nova = '/v1/proxy/model/us.amazon.nova-premier-v1%3A0/converse';
  const bedrock = {
    provider: 'bedrock',
    aws_region: 'us-east-1',
    aws_access_key_id: 'AKIDEXAMPLE',
    aws_secret_access_key: 'secret',
  };
  const usage = { inputTokens: 100, outputTokens: 50, totalTokens: 150 };
  const result = { toolUseId: 't', status: 'success', type: 'nova_grounding_result' };
  it.each([
    [
      'whole',
      nova,
      json(200, {
        output: {
          message: {
            role: 'assistant',
            content: [{ toolResult: { ...result, content: [] } }, { text: 'Here.' }],
          },
        },
        stopReason: 'end_turn',
        usage,
      }),
    ],
    [
      'streamed',
      `${nova}-stream`,
      bytes(
        200,
        Buffer.concat([
          awsEvent('messageStart', { role: 'assistant' }),
          awsEvent('contentBlockStart', { contentBlockIndex: 0, start: { toolResult: result } }),
          awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
          awsEvent('messageStop', { stopReason: 'end_turn' }),
          awsEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
        ]),
        awsStreamHeaders,
      ),
    ],
  ])('are named where nothing lists them: Nova’s own searches, %s', async (_how, path, reply) => {
    const body = { messages: [{ role: 'user', content: [{ text: 'Who won?' }] }] };
    expect(await billOf({ path, target: bedrock, body, reply })).toMatchObject({
      tokens: [100, 50],
      units: { web_search: 1 },
      unpriced: 'web_search',
    });
  });
});

describe.concurrent('answers with words of their own for what they used', () => {
  const parts = {
    models: [
      { model: 'openai/gpt-oss-120b', usage: { prompt_tokens: 600, completion_tokens: 150 } },
      { model: 'llama-3.3-70b-versatile', usage: { prompt_tokens: 400, completion_tokens: 50 } },
    ],
  };
  const usage = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
  const head = { id: 'a', model: 'groq/compound' };
  const message = { role: 'assistant', content: 'Here.' };
  it.each([
    [
      'whole',
      false,
      json(200, {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
        usage_breakdown: parts,
      }),
    ],
    [
      'streamed',
      true,
      sse([
        event({ ...head, choices: [{ index: 0, delta: message }] } as object),
        event({
          ...head,
          choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
          x_groq: { id: 'r', usage, usage_breakdown: parts },
        } as object),
        'data: [DONE]\n\n',
      ]),
    ],
  ])(
    'are charged as the models that answered: Groq’s Compound, %s',
    async (_how, stream, reply) => {
      const body = { model: 'groq/compound', stream, messages: [{ role: 'user', content: 'Hm?' }] };
      const target = { provider: 'groq' };
      expect(await billOf({ path: '/v1/chat/completions', target, body, reply })).toMatchObject({
        tokens: [1000, 200],
        costNanoUsd: 600 * 150 + 150 * 600 + 400 * 590 + 50 * 790,
        unpriced: '',
      });
    },
  );

  it('are charged by the request: Perplexity’s search', async () => {
    const bill = await billOf({
      path: '/v1/proxy/search',
      target: { provider: 'perplexity-ai' },
      body: { query: 'Who won?' },
      reply: json(200, { id: 's', results: [{ title: 't', url: 'u', snippet: 's' }] }),
    });
    expect(bill).toMatchObject({ tokens: [0, 0], costNanoUsd: perThousand(5) });
  });

  it('are charged by their pictures: Imagen at Gemini’s API', async () => {
    const picture = { bytesBase64Encoded: 'aGVsbG8=', mimeType: 'image/png' };
    const bill = await billOf({
      path: '/v1/proxy/v1beta/models/imagen-4.0-generate-001:predict',
      target: { provider: 'google' },
      body: { instances: [{ prompt: 'A lock' }], parameters: { sampleCount: 3 } },
      reply: json(200, { predictions: [picture, picture, { raiFilteredReason: 'no' }] }),
    });
    expect(bill).toMatchObject({ costNanoUsd: 2 * 40_000_000 });
  });

  it('are charged as ten seconds where sound is shorter: Groq’s transcripts', async () => {
    for (const [duration, seconds] of [
      [3, 10],
      [12, 12],
    ] as const) {
      const bill = await billOf({
        path: '/v1/proxy/audio/transcriptions',
        target: { provider: 'groq' },
        body: { model: 'whisper-large-v3', url: 'https://files.example.com/a.mp3' },
        reply: json(200, { task: 'transcribe', duration, text: 'Hello', segments: [] }),
      });
      // 11.1 cents an hour.
      expect(bill.costNanoUsd).toBe(Math.round((seconds * 0.111e9) / 3600));
    }
  });

  it('have pictures among their tokens: Cohere’s embeddings', async () => {
    const bill = await billOf({
      path: '/v1/proxy/v2/embed',
      target: { provider: 'cohere' },
      body: { model: 'embed-v4.0', input_type: 'image', images: ['data:image/png;base64,aGk='] },
      reply: json(200, {
        id: 'e',
        embeddings: { float: [[0.1]] },
        texts: [],
        meta: { billed_units: { images: 1, image_tokens: 1000 } },
      }),
    });
    expect(bill).toMatchObject({ tokens: [1000, 0], isEstimated: false });
    expect(bill.costNanoUsd).toBe(1000 * 470);
  });

  const ended = {
    is_finished: true,
    event_type: 'stream-end',
    response: {
      text: 'Here.',
      meta: {
        billed_units: { input_tokens: 10, output_tokens: 20 },
        tokens: { input_tokens: 80, output_tokens: 20 },
      },
    },
  };
  it.each([
    [
      'Cohere’s first version',
      { provider: 'cohere' },
      '/v1/proxy/v1/chat',
      'command-a-03-2025',
      'application/stream+json',
      [{ event_type: 'stream-start' }, { event_type: 'text-generation', text: 'Here.' }, ended],
      [80, 20],
      10 * 2500 + 20 * 10_000,
    ],
    [
      'Ollama’s own API',
      { provider: 'ollama' },
      '/v1/proxy/api/chat',
      'llama3.2',
      'application/x-ndjson',
      [
        { model: 'llama3.2', message: { role: 'assistant', content: 'Here.' }, done: false },
        { model: 'llama3.2', done: true, prompt_eval_count: 26, eval_count: 298 },
      ],
      [26, 298],
      null,
    ],
  ])(
    'are read where they are lines of JSON: %s',
    async (_whose, target, path, model, type, events, tokens, costNanoUsd) => {
      const body = { model, message: 'Hm?', messages: [{ role: 'user', content: 'Hm?' }] };
      const reply = bytes(200, Buffer.from(lines(...events)), { 'content-type': type });
      expect(await billOf({ path, target, body, reply })).toMatchObject({ tokens, costNanoUsd });
    },
  );
});

describe.concurrent('the tier that Gemini’s API says in a header', () => {
  const target = { provider: 'google' };
  const model = 'gemini-3-flash-preview';
  const answer = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 },
    modelVersion: model,
  };
  const standard = 100 * 500 + 50 * 3000;
  const own = `/v1/proxy/v1beta/models/${model}`;
  const contents = [{ role: 'user', parts: [{ text: 'Hm?' }] }];
  const chat = { model, messages: [{ role: 'user', content: 'Hm?' }] };
  const whole = Buffer.from(JSON.stringify(answer));
  const stream = Buffer.from(event(answer as object));
  it.each([
    ['flex', 0.5, `${own}:generateContent`, { contents, service_tier: 'flex' }, whole],
    ['priority', 1.8, `${own}:streamGenerateContent?alt=sse`, { contents }, stream],
    // Asked as priority, and served so after all.
    ['standard', 1, `${own}:generateContent`, { contents, service_tier: 'priority' }, whole],
    ['flex', 0.5, '/v1/chat/completions', chat, whole],
    ['flex', 0.5, '/v1/chat/completions', { ...chat, stream: true }, stream],
  ])(
    'is the one that is charged: %s, %d times, at %s',
    async (tier, factor, path, body, bytesOf) => {
      const type = bytesOf === stream ? 'text/event-stream' : 'application/json';
      const reply = bytes(200, bytesOf, { 'content-type': type, 'x-gemini-service-tier': tier });
      expect(await billOf({ path, target, body, reply })).toMatchObject({
        costNanoUsd: standard * factor,
      });
    },
  );
});

it('a response in the background that is streamed to its end costs what its own record says', async () => {
  const response = (status: string, usage: object | null) => ({
    id: 'resp_apart',
    object: 'response',
    status,
    background: true,
    model: 'gpt-4o',
    output: [],
    usage,
  });
  const counted = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
  const reply = sse([
    event({ type: 'response.created', response: response('queued', null) } as object),
    event({ type: 'response.completed', response: response('completed', counted) } as object),
  ]);
  const trial = lab.trial();
  try {
    const upstream = await trial.upstream('vendor', reply);
    const { rawRecords } = await trial.ask({
      config: upstream.target(),
      records: 2,
      path: '/v1/responses',
      body: { model: 'gpt-4o', input: 'Hm?', background: true, stream: true },
    });
    expect(rawRecords.map(({ costKnown }) => costKnown)).toEqual([true, true]);
    const costs = rawRecords.map(({ costNanoUsd }) => Number(costNanoUsd));
    expect(costs.sort((a, b) => a - b)).toEqual([0, 100 * 2500 + 50 * 10_000]);
  } finally {
    await trial.close();
  }
});

describe.concurrent('sounds, transcripts and pictures that do not count themselves', () => {
  const estimated = { isEstimated: true, unpriced: '' };

  const input = 'Hello there, how are you today? '.repeat(30);
  const speech = { model: 'gpt-4o-mini-tts', voice: 'alloy', input };
  const sound = { type: 'speech.audio.delta', audio: 'A'.repeat(64_000) };
  it.each([
    ['whole', {}, bytes(200, Buffer.alloc(480_000), { 'content-type': 'audio/mpeg' })],
    [
      'cut',
      { stream_format: 'sse' },
      sse([event(sound), event(sound), event({ type: 'speech.audio.done' })], { cutAfter: 2 }),
    ],
  ])('cost the text and as long as it is read aloud: speech, %s', async (_how, over, reply) => {
    const body = { ...speech, ...over };
    const bill = await billOf({ path: '/v1/audio/speech', target: {}, body, reply });
    // 960 letters are 64 seconds.
    const [read, said] = bill.tokens;
    expect(bill).toMatchObject({ ...estimated, costNanoUsd: read * 600 + said * 12_000 });
    expect(read).toBeGreaterThan(150);
    expect(read).toBeLessThan(350);
    expect(said).toBe(64 * 20);
  });

  it('cost their characters where sound that is charged so is cut', async () => {
    const reply = sse([event(sound), event(sound)], { cutAfter: 1 });
    const body = { ...speech, model: 'tts-1' };
    const bill = await billOf({ path: '/v1/audio/speech', target: {}, body, reply });
    expect(bill).toMatchObject({ tokens: [0, 0], costNanoUsd: 960 * 15_000 });
  });

  /** Ten seconds, with its header. */
  const heard = (over: Record<string, string>) => {
    const header = Buffer.alloc(44);
    header.write('RIFF', 0);
    header.writeUInt32LE(319_992, 4);
    header.write('WAVEfmt ', 8);
    header.writeUInt32LE(16, 16);
    header.writeUInt16LE(1, 20);
    header.writeUInt16LE(1, 22);
    header.writeUInt32LE(16_000, 24);
    header.writeUInt32LE(32_000, 28);
    header.writeUInt16LE(2, 32);
    header.writeUInt16LE(16, 34);
    header.write('data', 36);
    header.writeUInt32LE(319_956, 40);
    const form = new FormData();
    form.set('file', new Blob([header, Buffer.alloc(319_956)], { type: 'audio/wav' }), 'a.wav');
    for (const [name, value] of Object.entries(over)) form.set(name, value);
    return form;
  };
  const words = 'hello there '.repeat(50);
  const path = '/v1/audio/transcriptions';
  const plain = { 'content-type': 'text/plain' };
  const written = { type: 'transcript.text.delta', delta: words };
  it.each([
    ['as text', { response_format: 'text' }, bytes(200, Buffer.from(words), plain)],
    [
      'cut',
      { stream: 'true' },
      sse([event(written), event({ type: 'transcript.text.done' })], { cutAfter: 1 }),
    ],
  ])('cost what is heard and written: tokens of a transcript, %s', async (_how, over, reply) => {
    const body = heard({ model: 'gpt-4o-transcribe', ...over });
    const bill = await billOf({ path, target: {}, body, reply });
    expect(bill).toMatchObject({
      ...estimated,
      tokens: [100, words.length / 4],
      costNanoUsd: 100 * 6000 + (words.length / 4) * 10_000,
    });
  });

  it('cost no more than was heard in so many seconds, whatever an upstream sends', async () => {
    const reply = bytes(200, Buffer.alloc(400_000, words), plain);
    const body = heard({ model: 'gpt-4o-transcribe', response_format: 'text' });
    expect(await billOf({ path, target: {}, body, reply })).toMatchObject({
      ...estimated,
      tokens: [100, 200],
    });
  });

  it.each([
    ['openai', 'whisper-1', 'srt', 0.006e9 / 60],
    ['groq', 'whisper-large-v3', 'text', 0.111e9 / 3600],
  ])(
    'cost the seconds of their sound: transcripts of %s, %s as %s',
    async (provider, model, format, second) => {
      const reply = bytes(200, Buffer.from(words), plain);
      const body = heard({ model, response_format: format });
      const bill = await billOf({ path, target: { provider }, body, reply });
      expect(bill).toMatchObject({ ...estimated, tokens: [0, 0] });
      expect(bill.costNanoUsd).toBe(Math.round(10 * second));
    },
  );

  it.each([
    ['seen in part', [1, 2], 4160 + 2 * 100],
    ['not seen at all', [], 0],
  ])('cost what is drawn: pictures, %s', async (_how, seen, drawn) => {
    const part = (index: number) =>
      event({
        type: 'image_generation.partial_image',
        partial_image_index: index,
        b64_json: 'A'.repeat(4000),
      } as object);
    const reply =
      seen.length === 0
        ? sse([': nothing yet\n\n', ': nor now\n\n'], { cutAfter: 1 })
        : sse([...seen.map(part), event({ type: 'image_generation.completed' })], { cutAfter: 2 });
    const bill = await billOf({
      path: '/v1/images/generations',
      target: {},
      body: {
        model: 'gpt-image-1',
        prompt: 'A cat beneath a tree',
        size: '1024x1024',
        quality: 'high',
        stream: true,
        partial_images: 2,
      },
      reply,
    });
    const [read] = bill.tokens;
    expect(read).toBeGreaterThan(2);
    expect(bill).toMatchObject({
      ...estimated,
      tokens: [read, drawn],
      costNanoUsd: read * 5000 + drawn * 40_000,
    });
  });
});

describe.concurrent('a response that draws, and is cut', () => {
  const drawing = (over: object) => ({ type: 'image_generation', partial_images: 2, ...over });
  const begun = (tool: object) =>
    event({
      type: 'response.created',
      response: { id: 'resp_1', object: 'response', model: 'gpt-5', output: [], tools: [tool] },
    } as object);
  const shown = (index: number, item = 'ig_1') =>
    event({
      type: 'response.image_generation_call.partial_image',
      item_id: item,
      output_index: 0,
      partial_image_index: index,
      partial_image_b64: 'A'.repeat(4000),
    } as object);
  const bill = (tool: object, ...events: string[]) =>
    billOf({
      path: '/v1/responses',
      target: {},
      body: { model: 'gpt-5', input: 'Draw a cat beneath a tree', tools: [tool], stream: true },
      reply: sse([begun(tool), ...events, event({ type: 'response.completed' })], {
        cutAfter: events.length + 1,
      }),
    });

  it('costs its prompt and each picture of which any state was seen, as its model draws it', async () => {
    const tool = drawing({ model: 'gpt-image-1', quality: 'high', size: '1024x1024' });
    const one = 4160 + 2 * 100;
    for (const [events, pictures] of [
      [[shown(0), shown(1)], 1],
      [[shown(0), shown(0, 'ig_2')], 2],
    ] as const) {
      const { tokens, costNanoUsd, isEstimated, unpriced } = await bill(tool, ...events);
      expect([isEstimated, unpriced]).toEqual([true, '']);
      expect(costNanoUsd).toBe(tokens[0] * 1250 + tokens[1] * 10_000 + pictures * one * 40_000);
    }
  });

  it('names the picture where nobody says who draws it', async () => {
    expect(await bill(drawing({}), shown(0), shown(1))).toMatchObject({
      units: { image_generation: 1 },
      unpriced: 'image_generation',
    });
  });
});

describe.concurrent('a refusal', () => {
  const filtered = {
    error: {
      message:
        'The response was filtered due to the prompt triggering the content management policy.',
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  };
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Tell me. '.repeat(100) }] };
  const path = '/v1/chat/completions';
  const azure = {
    provider: 'azure-openai',
    azure_resource_name: 'resource',
    azure_deployment_id: 'deployment',
    azure_api_version: '2024-10-21',
    azure_model_name: 'gpt-4o',
  };

  it('of a filter is charged its prompt at Azure, and nowhere else', async () => {
    const bill = await billOf({ path, body, target: azure, reply: json(400, filtered) });
    expect(bill).toMatchObject({ status: 400, isEstimated: true });
    expect(bill.tokens[0]).toBeGreaterThan(150);
    expect(bill.tokens[1]).toBe(0);
    expect(bill.costNanoUsd).toBe(bill.tokens[0] * 2500);
    const elsewhere = await billOf({ path, body, target: {}, reply: json(400, filtered) });
    expect(elsewhere).toMatchObject({ tokens: [0, 0], costNanoUsd: 0 });
  });

  it('of anything else is charged nothing there', async () => {
    const error = { message: 'max_tokens is too large', code: 'invalid_value' };
    expect(await billOf({ path, body, target: azure, reply: json(400, { error }) })).toMatchObject({
      tokens: [0, 0],
      costNanoUsd: 0,
    });
  });
});
