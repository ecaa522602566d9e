import { createHash, randomBytes } from 'node:crypto';
import { bytes, eventually, hang, json, sse, type UpstreamReply } from '@sluice/testkit';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { errorOf } from './scenario.ts';

/**
 * The unified endpoints that are no conversations, each native and in a vendor's own words. Side by side: each test has
 * upstreams of its own, and waits for records.
 */
let lab: Lab;
const trials: Trial[] = [];
beforeAll(async () => {
  lab = await startLab();
});
afterAll(async () => {
  await Promise.all(trials.map((trial) => trial.close()));
  await lab.stop();
});

function newTrial(): Trial {
  const trial = lab.trial();
  trials.push(trial);
  return trial;
}

/** An upstream with one reply, and the headers that lead to it as a provider. */
async function vendor(provider: string, ...replies: UpstreamReply[]) {
  const upstream = await newTrial().upstream(provider, ...replies);
  const headers = {
    'x-service-provider': provider,
    'x-service-custom-host': upstream.url,
    authorization: 'Bearer sk-vendor',
  };
  return { upstream, headers };
}

const origin = () => lab.scenario.stack.gatewayUrls[0] ?? '';
const key = () => lab.scenario.stack.credentials.workspace_key;

const openAiAt = (headers: Record<string, string>) =>
  new OpenAI({
    apiKey: headers.authorization?.replace('Bearer ', ''),
    baseURL: `${origin()}/v1`,
    maxRetries: 0,
    defaultHeaders: { ...headers, 'x-service-api-key': key() },
  });

const post = (path: string, headers: Record<string, string>, body: object | FormData) =>
  fetch(`${origin()}${path}`, {
    method: 'POST',
    headers: {
      ...headers,
      'x-service-api-key': key(),
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });

/** What an upstream read of a multipart body. */
async function formAt(request: { headers: object; body: Buffer }): Promise<FormData> {
  return new Response(new Uint8Array(request.body), {
    headers: { 'content-type': String((request.headers as never)['content-type']) },
  }).formData();
}

const sha = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

async function recordOf(response: { headers: Pick<Headers, 'get'> }) {
  const [record] = await lab.records.of(response.headers.get('x-service-request-id') ?? '', 1);
  if (record === undefined) throw new Error('no record');
  return record;
}

const sound = randomBytes(150_000);
function soundForm(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([sound], { type: 'audio/mpeg' }), 'speech.mp3');
  return form;
}

describe.concurrent('POST /v1/embeddings', () => {
  it.each([
    ['of more numbers than are read', 700_000],
    ['larger than what is read', 2_500_000],
  ])('passes a reply %s as it is, and charges what it says', async (_what, numbers) => {
    const text = JSON.stringify({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: new Array(numbers).fill(0.123456) }],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 1000, total_tokens: 1000 },
    });
    const { headers } = await vendor('openai', json(200, text));
    const body = { model: 'text-embedding-3-small', input: 'a' };
    const response = await post('/v1/embeddings', headers, body);
    expect(await response.text()).toBe(text);
    expect(await recordOf(response)).toMatchObject({
      outcome: 1,
      usageReported: true,
      inputTokens: 1000n,
      responseModel: 'text-embedding-3-small',
      costNanoUsd: 20_000n,
    });
  });

  it('is read by the openai client, in floats and in base64', async () => {
    const vector = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
    const { upstream, headers } = await vendor(
      'openai',
      json(200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: vector }],
        model: 'text-embedding-3-small',
        usage: { prompt_tokens: 5, total_tokens: 5 },
      }),
    );
    const reply = await openAiAt(headers).embeddings.create({
      model: 'text-embedding-3-small',
      input: 'x',
    });
    expect(reply.data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(upstream.requests[0]?.path).toBe('/embeddings');
  });

  it('asks Nomic in its own words, and gives the client base64 where it sends floats', async () => {
    const { upstream, headers } = await vendor(
      'nomic',
      json(200, { embeddings: [[0.5, -0.25]], usage: { prompt_tokens: 3 }, model: 'nomic-v1' }),
    );
    const reply = await openAiAt(headers).embeddings.create({
      model: 'nomic-v1',
      input: ['Grüße'],
      dimensions: 2,
    });
    expect(reply.data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(reply.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    expect(upstream.requests[0]?.path).toBe('/embedding/text');
    expect(upstream.requests[0]?.json()).toEqual({
      model: 'nomic-v1',
      texts: ['Grüße'],
      dimensionality: 2,
      task_type: 'search_document',
    });
  });

  it('keeps answers in different encodings apart in the cache', async () => {
    const { upstream, headers } = await vendor('nomic', json(200, { embeddings: [[0.5]] }));
    const config = JSON.stringify({ cache: { mode: 'simple' } });
    const model = `m-${Date.now()}`;
    const ask = (encoding: string) =>
      post(
        '/v1/embeddings',
        { ...headers, 'x-service-config': config },
        { model, input: 'x', encoding_format: encoding },
      );
    const told = async (response: Response) => [
      response.headers.get('x-service-cache-status'),
      ((await response.json()) as { data: { embedding: unknown }[] }).data[0]?.embedding,
    ];
    expect(await told(await ask('float'))).toEqual(['MISS', [0.5]]);
    expect(await told(await ask('base64'))).toEqual(['MISS', 'AAAAPw==']);
    expect(await told(await ask('float'))).toEqual(['HIT', [0.5]]);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe.concurrent('POST /v1/rerank', () => {
  const documents = ['Carson City', 'Washington, D.C.'];
  const jinaReply = json(200, {
    model: 'jina-reranker',
    usage: { total_tokens: 26 },
    results: [
      { index: 0, relevance_score: 0.1 },
      { index: 1, relevance_score: 0.9 },
    ],
  });

  it('is read by the cohere-ai client, best first', async () => {
    const { upstream, headers } = await vendor('jina', jinaReply);
    const cohere = new CohereClient({
      token: 'sk-vendor',
      environment: origin(),
      headers: { ...headers, 'x-service-api-key': key() },
    } as ConstructorParameters<typeof CohereClient>[0]);
    const reply = await cohere.rerank({
      model: 'jina-reranker',
      query: 'capital of the USA',
      documents,
      topN: 2,
      returnDocuments: true,
    });
    expect(reply.results).toMatchObject([
      { index: 1, relevanceScore: 0.9, document: { text: 'Washington, D.C.' } },
      { index: 0, relevanceScore: 0.1, document: { text: 'Carson City' } },
    ]);
    expect(upstream.requests[0]?.path).toBe('/rerank');
    expect(upstream.requests[0]?.json()).toMatchObject({ top_n: 2, return_documents: false });
  });

  it('passes the cohere-ai client’s own calls through', async () => {
    const own = {
      id: 'r-1',
      results: [{ index: 1, relevance_score: 0.7 }],
      meta: { billed_units: { search_units: 1 } },
    };
    const embedded = {
      id: 'e-1',
      embeddings: { float: [[1]] },
      texts: ['x'],
      meta: { billed_units: { input_tokens: 1000 } },
    };
    const { upstream, headers } = await vendor('cohere', json(200, own), json(200, embedded));
    const cohere = new CohereClientV2({
      token: 'sk-vendor',
      environment: `${origin()}/v1/proxy`,
      headers: { ...headers, 'x-service-api-key': key() },
    } as ConstructorParameters<typeof CohereClientV2>[0]);
    const { data: ranked, rawResponse: first } = await cohere
      .rerank({ model: 'rerank-v3.5', query: 'q', documents })
      .withRawResponse();
    expect(ranked).toMatchObject({ id: 'r-1', results: [{ index: 1, relevanceScore: 0.7 }] });
    const { data: vectors, rawResponse: second } = await cohere
      .embed({
        model: 'embed-v4.0',
        texts: ['x'],
        inputType: 'search_query',
        embeddingTypes: ['float'],
      })
      .withRawResponse();
    expect(vectors.embeddings.float).toEqual([[1]]);
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v2/rerank', '/v2/embed']);
    expect(upstream.requests[0]?.json()).toEqual({ model: 'rerank-v3.5', query: 'q', documents });
    expect(await recordOf(first)).toMatchObject({ searchUnits: 1n, isProxyCall: true });
    expect(await recordOf(second)).toMatchObject({ inputTokens: 1000n, costNanoUsd: 120_000n });
  });

  it('counts search units, also where the path is passed through', async () => {
    const { headers } = await vendor(
      'pinecone',
      json(200, { model: 'bge', data: [{ index: 0, score: 1 }], usage: { rerank_units: 2 } }),
    );
    const body = { model: 'bge', query: 'q', documents: ['a'] };
    const unified = await post('/v1/rerank', headers, body);
    expect(await unified.json()).toMatchObject({
      usage: { search_units: 2 },
      provider: 'pinecone',
    });
    const passed = await post('/v1/proxy/rerank', headers, body);
    expect(await passed.json()).toMatchObject({ usage: { rerank_units: 2 } });
    for (const response of [unified, passed]) {
      const record = await recordOf(response);
      expect(record).toMatchObject({ searchUnits: 2n, responseModel: 'bge', costKnown: false });
    }
  });

  it('says what the provider cannot take, or refuses for its sake', async () => {
    const { upstream, headers } = await vendor('jina', jinaReply);
    const body = { model: 'm', query: 'q', documents, max_chunks_per_doc: 3 };
    const lenient = await post('/v1/rerank', headers, body);
    expect(lenient.headers.get('x-service-dropped-params')).toBe('max_chunks_per_doc');
    const strict = { ...headers, 'x-service-strict-params': 'true' };
    expect(await errorOf(await post('/v1/rerank', strict, body))).toMatchObject({
      status: 400,
      code: 'request.params_dropped',
      param: 'max_chunks_per_doc',
    });
    expect(upstream.requests).toHaveLength(1);
  });

  it('refuses bad input, a wrong key, a wrong type and a provider without it', async () => {
    const { upstream, headers } = await vendor('jina', jinaReply);
    expect(await errorOf(await post('/v1/rerank', headers, { documents }))).toMatchObject({
      status: 400,
      param: 'body.query',
    });
    const wrongKey = await fetch(`${origin()}/v1/rerank`, {
      method: 'POST',
      headers: { ...headers, 'x-service-api-key': 'sl_nope', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(wrongKey.status).toBe(401);
    expect(await errorOf(await post('/v1/rerank', headers, new FormData()))).toMatchObject({
      code: 'request.unsupported_content_type',
    });
    const elsewhere = { ...headers, 'x-service-provider': 'segmind' };
    expect(await errorOf(await post('/v1/rerank', elsewhere, { model: 'm' }))).toMatchObject({
      code: 'provider.endpoint_unsupported',
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it('tells the vendor’s error in the unified envelope, and of what is no answer', async () => {
    const { headers } = await vendor(
      'voyage',
      json(429, { detail: 'You have exceeded your rate limit.' }),
      json(200, { results: 'none' }),
    );
    const body = { model: 'm', query: 'q', documents };
    const refused = await post('/v1/rerank', headers, body);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({
      error: {
        message: 'voyage error: You have exceeded your rate limit.',
        type: null,
        param: null,
        code: null,
      },
      provider: 'voyage',
    });
    expect(await errorOf(await post('/v1/rerank', headers, body))).toMatchObject({
      status: 502,
      code: 'upstream.invalid_response',
    });
  });
});

describe.concurrent('POST /v1/moderations', () => {
  it('is read by the openai client, and cached', async () => {
    const { upstream, headers } = await vendor(
      'openai',
      json(200, { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: true }] }),
    );
    const config = JSON.stringify({ cache: { mode: 'simple' } });
    const client = openAiAt({ ...headers, 'x-service-config': config });
    const ask = () => client.moderations.create({ input: 'bad words' });
    expect((await ask()).results[0]?.flagged).toBe(true);
    expect((await ask()).id).toBe('modr-1');
    expect(upstream.requests).toHaveLength(1);
  });
});

describe.concurrent('POST /v1/images', () => {
  it('generates with the openai client, and counts the images', async () => {
    const { headers } = await vendor(
      'openai',
      json(200, { created: 1, data: [{ b64_json: 'QQ==' }, { b64_json: 'Qg==' }] }),
    );
    const { data: reply, response } = await openAiAt(headers)
      .images.generate({ model: 'dall-e-2', prompt: 'a fox', n: 2 })
      .withResponse();
    expect(reply.data).toHaveLength(2);
    expect(await recordOf(response)).toMatchObject({ images: 2n, endpoint: 'imageGenerate' });
  });

  it('streams partial images of the openai client’s', async () => {
    const usage = { input_tokens: 50, output_tokens: 50, total_tokens: 100 };
    const { headers } = await vendor(
      'openai',
      sse([
        { type: 'image_generation.partial_image', b64_json: 'QQ==', partial_image_index: 0 },
        { type: 'image_generation.completed', b64_json: 'Qg==', usage },
      ]),
    );
    const { data: stream, response } = await openAiAt(headers)
      .images.generate({ model: 'gpt-image-1', prompt: 'a', stream: true, partial_images: 1 })
      .withResponse();
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed']);
    expect(await recordOf(response)).toMatchObject({
      images: 1n,
      inputTokens: 50n,
      costNanoUsd: 50n * 5000n + 50n * 40_000n,
    });
  });

  it('edits with the openai client: the file arrives as it was, and nothing is cached', async () => {
    const { upstream, headers } = await vendor(
      'openai',
      json(200, { created: 1, data: [{ b64_json: 'QQ==' }] }),
    );
    const config = JSON.stringify({ cache: { mode: 'simple' } });
    const { response } = await openAiAt({ ...headers, 'x-service-config': config })
      .images.edit({
        model: 'gpt-image-1',
        prompt: 'a fox',
        image: await toFile(sound, 'a.png', { type: 'image/png' }),
      })
      .withResponse();
    expect(response.headers.get('x-service-cache-status')).toBe('DISABLED');
    expect(upstream.requests[0]?.path).toBe('/images/edits');
    const form = await formAt(await upstream.received(1));
    expect(form.get('prompt')).toBe('a fox');
    const file = form.get('image') as File;
    expect(sha(new Uint8Array(await file.arrayBuffer()))).toBe(sha(sound));
  });

  it('edits in events, and varies, with the openai client: each picture is counted', async () => {
    const usage = { input_tokens: 50, output_tokens: 50, total_tokens: 100 };
    const { headers } = await vendor(
      'openai',
      sse([
        { type: 'image_edit.partial_image', b64_json: 'QQ==', partial_image_index: 0 },
        { type: 'image_edit.completed', b64_json: 'Qg==', usage },
      ]),
      json(200, { created: 1, data: [{ b64_json: 'QQ==' }, { b64_json: 'QQ==' }] }),
    );
    const picture = () => toFile(sound, 'a.png', { type: 'image/png' });
    const edited = await openAiAt(headers)
      .images.edit({ model: 'gpt-image-1', prompt: 'a', image: await picture(), stream: true })
      .withResponse();
    const types: string[] = [];
    for await (const event of edited.data) types.push(event.type);
    expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed']);
    expect(await recordOf(edited.response)).toMatchObject({
      endpoint: 'imageEdit',
      images: 1n,
      costNanoUsd: 50n * 5000n + 50n * 40_000n,
    });
    const varied = await openAiAt(headers)
      .images.createVariation({ model: 'dall-e-2', image: await picture(), n: 2 })
      .withResponse();
    expect(varied.data.data).toHaveLength(2);
    expect(await recordOf(varied.response)).toMatchObject({
      endpoint: 'imageVariation',
      images: 2n,
    });
  });

  it('sends Stability a form made of JSON, and refuses what it filtered', async () => {
    const { upstream, headers } = await vendor(
      'stability-ai',
      json(200, { image: 'QQ==', finish_reason: 'SUCCESS', seed: 3 }),
      json(200, { image: 'QQ==', finish_reason: 'CONTENT_FILTERED' }),
    );
    const client = openAiAt(headers);
    const ask = { model: 'stable-image-core', prompt: 'Fuchs 🦊', size: '1024x1024' } as const;
    expect((await client.images.generate(ask)).data?.[0]?.b64_json).toBe('QQ==');
    const request = await upstream.received(1);
    expect(request.path).toBe('/v2beta/stable-image/generate/core');
    expect(request.headers.accept).toBe('application/json');
    const form = await formAt(request);
    expect([form.get('prompt'), form.get('aspect_ratio')]).toEqual(['Fuchs 🦊', '1:1']);
    await expect(client.images.generate(ask)).rejects.toMatchObject({ status: 400 });
  });
});

describe.concurrent('POST /v1/audio/speech', () => {
  it('gives the openai client sound while it is made, and charges its characters', async () => {
    const half = sound.subarray(0, 60_000);
    const { headers } = await vendor('openai', {
      async send(response) {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(half);
        await heard;
        response.end(sound.subarray(60_000));
      },
    });
    let release = () => {};
    const heard = new Promise<void>((resolve) => (release = resolve));
    const response = await openAiAt(headers).audio.speech.create({
      model: 'tts-1',
      input: 'Grüße 👋',
      voice: 'alloy',
    });
    const pieces: Buffer[] = [];
    let total = 0;
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces.push(Buffer.from(piece));
      total += piece.length;
      if (total >= half.length) release();
    }
    expect(sha(Buffer.concat(pieces))).toBe(sha(sound));
    expect(await recordOf(response)).toMatchObject({
      characters: 7n,
      endpoint: 'createSpeech',
    });
  });

  it('passes speech as events, byte for byte, and charges what its last one says', async () => {
    const events = [
      ...['SUQz', 'BAAA'].map((audio) => ({ type: 'speech.audio.delta', audio })),
      {
        type: 'speech.audio.done',
        usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 },
      },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const { upstream, headers } = await vendor('openai', sse(events));
    const body = { model: 'gpt-4o-mini-tts', input: 'Hello', voice: 'alloy', stream_format: 'sse' };
    const response = await post('/v1/audio/speech', headers, body);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toBe(events.join(''));
    expect(upstream.requests[0]?.json()).toEqual(body);
    // 14 texts at $0.60 and 101 of sound at $12 a million.
    expect(await recordOf(response)).toMatchObject({
      inputTokens: 14n,
      outputTokens: 101n,
      characters: 5n,
      usageReported: true,
      costNanoUsd: 14n * 600n + 101n * 12_000n,
    });
  });

  it('asks Deepgram in its own words, and streams its sound', async () => {
    const { upstream, headers } = await vendor(
      'deepgram',
      bytes(200, sound, { 'content-type': 'audio/mpeg' }),
      json(400, { err_code: 'Bad Request', err_msg: 'No such voice.' }),
    );
    const body = { model: 'aura-2', input: 'Hello', voice: 'thalia', instructions: 'calm' };
    const response = await post('/v1/audio/speech', headers, body);
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(response.headers.get('x-service-dropped-params')).toBe('instructions');
    expect(sha(new Uint8Array(await response.arrayBuffer()))).toBe(sha(sound));
    expect(upstream.requests[0]?.path).toBe('/speak?model=aura-2-thalia-en&encoding=mp3');
    expect(upstream.requests[0]?.headers.authorization).toBe('Token sk-vendor');
    expect(upstream.requests[0]?.json()).toEqual({ text: 'Hello' });
    expect(await recordOf(response)).toMatchObject({ characters: 5n });
    expect(await errorOf(await post('/v1/audio/speech', headers, body))).toMatchObject({
      status: 400,
      message: 'deepgram error: No such voice.',
    });
  });

  it('asks ElevenLabs for the voice in the path', async () => {
    const { upstream, headers } = await vendor(
      'elevenlabs',
      bytes(200, sound, { 'content-type': 'audio/mpeg' }),
    );
    const body = { model: 'eleven_v3', input: 'Hello', voice: 'v/1' };
    const response = await post('/v1/audio/speech', headers, body);
    await response.arrayBuffer();
    expect(upstream.requests[0]?.path).toBe('/text-to-speech/v%2F1?output_format=mp3_44100_128');
    expect(upstream.requests[0]?.headers['xi-api-key']).toBe('sk-vendor');
    const without = await post('/v1/audio/speech', headers, { model: 'm', input: 'x' });
    expect(await errorOf(without)).toMatchObject({ status: 400, param: 'body.voice' });
  });
});

describe.concurrent('POST /v1/audio/transcriptions', () => {
  const whisper = json(200, { text: 'Hello', usage: { type: 'duration', seconds: 60 } });

  it('passes the openai client’s file on, and charges the seconds', async () => {
    const { upstream, headers } = await vendor('openai', whisper);
    const { data: reply, response } = await openAiAt(headers)
      .audio.transcriptions.create({
        model: 'whisper-1',
        file: await toFile(sound, 'speech.mp3'),
      })
      .withResponse();
    expect(reply.text).toBe('Hello');
    const file = (await formAt(await upstream.received(1))).get('file') as File;
    expect(sha(new Uint8Array(await file.arrayBuffer()))).toBe(sha(sound));
    expect(await recordOf(response)).toMatchObject({
      audioSeconds: 60,
      costKnown: true,
      costNanoUsd: 6_000_000n,
    });
  });

  it('sends a form byte for byte when nothing in it changes, and its text back', async () => {
    const subtitles = '1\n00:00:00,000 --> 00:00:01,000\nHi\n';
    const { upstream, headers } = await vendor(
      'openai',
      bytes(200, Buffer.from(subtitles), { 'content-type': 'text/plain' }),
    );
    const sent = new Response(soundForm({ model: 'whisper-1', response_format: 'srt' }));
    const body = Buffer.from(await sent.arrayBuffer());
    const type = sent.headers.get('content-type') ?? '';
    const response = await fetch(`${origin()}/v1/audio/translations`, {
      method: 'POST',
      headers: { ...headers, 'x-service-api-key': key(), 'content-type': type },
      body,
    });
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(await response.text()).toBe(subtitles);
    const request = await upstream.received(1);
    expect(request.path).toBe('/audio/translations');
    expect(request.headers['content-type']).toBe(type);
    expect(sha(request.body)).toBe(sha(body));
  });

  it('streams a transcript', async () => {
    const { headers } = await vendor(
      'openai',
      sse([
        { type: 'transcript.text.delta', delta: 'Hel' },
        {
          type: 'transcript.text.done',
          text: 'Hello',
          usage: { type: 'tokens', input_tokens: 10, output_tokens: 5, total_tokens: 15 },
        },
      ]),
    );
    const { data: stream, response } = await openAiAt(headers)
      .audio.transcriptions.create({
        model: 'gpt-4o-transcribe',
        file: await toFile(sound, 'speech.mp3'),
        stream: true,
      })
      .withResponse();
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(await recordOf(response)).toMatchObject({ stream: true, inputTokens: 10n });
  });

  it('asks Deepgram with the sound as the body, and gives the transcript as asked', async () => {
    const reply = json(200, {
      metadata: { request_id: 'dg-1', duration: 2.5 },
      results: { channels: [{ alternatives: [{ transcript: 'Hello there.', words: [] }] }] },
    });
    const { upstream, headers } = await vendor('deepgram', reply);
    const form = soundForm({ model: 'nova-3', response_format: 'vtt', prompt: 'names' });
    const response = await post('/v1/audio/transcriptions', headers, form);
    expect(response.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect(response.headers.get('x-service-dropped-params')).toBe('prompt');
    expect(await response.text()).toContain('00:00:02.500\nHello there.');
    const request = await upstream.received(1);
    expect(request.path).toBe('/listen?model=nova-3&smart_format=true&detect_language=true');
    expect(request.headers['content-type']).toBe('audio/mpeg');
    expect(sha(request.body)).toBe(sha(sound));
    expect(await recordOf(response)).toMatchObject({ audioSeconds: 2.5 });
  });

  it('frees the model of its provider’s slug in the form, and leaves the rest as it was', async () => {
    const { upstream } = await vendor('openai', whisper);
    const slug = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: upstream.url,
    });
    const form = soundForm({ model: `${slug}/whisper-1`, prompt: 'Grüße' });
    const response = await post('/v1/audio/transcriptions', {}, form);
    expect(response.status).toBe(200);
    const request = await upstream.received(1);
    expect(request.headers.authorization).toBe('Bearer sk-saved');
    const read = await formAt(request);
    expect([...read.keys()]).toEqual(['model', 'prompt', 'file']);
    expect([read.get('model'), read.get('prompt')]).toEqual(['whisper-1', 'Grüße']);
    const file = read.get('file') as File;
    expect([file.name, file.type]).toEqual(['speech.mp3', 'audio/mpeg']);
    expect(sha(new Uint8Array(await file.arrayBuffer()))).toBe(sha(sound));
    expect(await recordOf(response)).toMatchObject({ model: 'whisper-1', costNanoUsd: 6_000_000n });
  });

  it('goes on to the next target with the same file, in that vendor’s words', async () => {
    const trial = newTrial();
    const first = await trial.upstream('first', json(500, { error: { message: 'down' } }));
    const second = await trial.upstream(
      'second',
      json(200, { text: 'Hello', words: [], audio_duration_secs: 4 }),
    );
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        first.target({ override_params: { model: 'whisper-1', temperature: 0.2 } }),
        second.target({
          provider: 'elevenlabs',
          custom_host: second.url,
          override_params: { model: 'scribe_v1' },
        }),
      ],
    };
    const headers = { 'x-service-config': JSON.stringify(config) };
    const form = soundForm({ model: 'any', language: 'en' });
    const response = await post('/v1/audio/transcriptions', headers, form);
    expect(await response.json()).toMatchObject({ text: 'Hello', provider: 'elevenlabs' });
    const asked = await formAt(await first.received(1));
    expect([asked.get('model'), asked.get('temperature')]).toEqual(['whisper-1', '0.2']);
    const then = await formAt(await second.received(1));
    expect([then.get('model_id'), then.get('language_code')]).toEqual(['scribe_v1', 'en']);
    for (const read of [asked, then]) {
      const file = read.get('file') as File;
      expect(sha(new Uint8Array(await file.arrayBuffer()))).toBe(sha(sound));
    }
    const records = await lab.records.of(response.headers.get('x-service-request-id') ?? '', 2);
    expect(records.map(({ provider, statusCode }) => [provider, statusCode])).toEqual([
      ['openai', 500],
      ['elevenlabs', 200],
    ]);
  });

  it('refuses what is no form, no file, or names two models', async () => {
    const { upstream, headers } = await vendor('deepgram', whisper);
    const path = '/v1/audio/transcriptions';
    const raw = (type: string, body: string) =>
      fetch(`${origin()}${path}`, {
        method: 'POST',
        headers: { ...headers, 'x-service-api-key': key(), 'content-type': type },
        body,
      });
    expect(await errorOf(await raw('audio/mpeg', 'x'))).toMatchObject({
      code: 'request.unsupported_content_type',
      message: 'This endpoint takes multipart/form-data or application/json.',
    });
    expect(await errorOf(await raw('multipart/form-data', 'x'))).toMatchObject({
      status: 400,
      code: 'request.invalid_form',
    });
    const cut = await raw('multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form');
    expect(await errorOf(cut)).toMatchObject({ status: 400, code: 'request.invalid_form' });
    const two = soundForm({ model: 'a' });
    two.append('model', 'b');
    expect(await errorOf(await post(path, headers, two))).toMatchObject({ param: 'body.model' });
    const none = new FormData();
    none.append('model', 'nova-3');
    expect(await errorOf(await post(path, headers, none))).toMatchObject({ param: 'body.file' });
    expect(upstream.requests).toHaveLength(0);
  });

  it('ends the call upstream when the caller leaves', async () => {
    const { upstream, headers } = await vendor('openai', hang());
    const leave = new AbortController();
    const asking = openAiAt(headers).audio.transcriptions.create(
      { model: 'whisper-1', file: await toFile(sound, 'a.mp3') },
      { signal: leave.signal },
    );
    const request = await upstream.received(1);
    leave.abort();
    await expect(asking).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await eventually(() => expect(request.aborted).toBe(true));
  });
});

describe.concurrent('@demo', () => {
  it('shows every one of them', async () => {
    const client = openAiAt({ 'x-service-provider': '@demo', authorization: 'Bearer any' });
    const file = await toFile(sound, 'speech.mp3');
    const heard = await client.audio.transcriptions.create({ model: 'whisper-1', file });
    expect(heard.text).toContain('150000 bytes');
    const drawn = await client.images.generate({ model: 'dall-e-3', prompt: 'x' });
    expect(drawn.data).toHaveLength(1);
    const flagged = await client.moderations.create({ input: 'attack', model: 'omni' });
    expect(flagged.results[0]?.flagged).toBe(true);
    const spoken = await client.audio.speech.create({ model: 'tts-1', input: 'x', voice: 'alloy' });
    expect((await spoken.arrayBuffer()).byteLength).toBe(44 + 2400);
    const ranked = await post(
      '/v1/rerank',
      {},
      {
        model: '@demo/demo-rerank',
        query: 'red fox',
        documents: [{ title: 'dog' }, { title: 'red fox' }],
        return_documents: true,
      },
    );
    expect(await ranked.json()).toMatchObject({
      results: [{ index: 1, relevance_score: 1, document: { title: 'red fox' } }, { index: 0 }],
      usage: { search_units: 1 },
      provider: 'demo',
    });
  });

  it('gives browsers secrets, and takes their calls', async () => {
    const session = { type: 'realtime', model: 'gpt-realtime' };
    const demo = { 'x-service-provider': '@demo' };
    const made = await post('/v1/realtime/client_secrets', demo, { session });
    const { value } = (await made.json()) as { value: string };
    const placed = await fetch(`${lab.scenario.stack.gatewayUrls[0]}/v1/realtime/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${value}`, 'content-type': 'application/sdp' },
      body: 'v=0\r\n',
    });
    expect([placed.status, await placed.text()]).toEqual([201, expect.stringMatching(/^v=0/)]);
    const hangUp = await post(`${placed.headers.get('location')}/hangup`, demo, {});
    expect(hangUp.status).toBe(200);
  });
});

describe.concurrent('@demo', () => {
  it('runs a batch over a file, and tunes and films by it', async () => {
    const headers = { 'x-service-provider': '@demo', authorization: 'Bearer any' };
    const client = openAiAt(headers);
    const row = (custom_id: string, model: string) =>
      JSON.stringify({
        custom_id,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content: 'Hi' }] },
      });
    const lines = [row('one', 'demo-fast'), row('two', 'demo-error-429')].join('\n');
    const file = await client.files.create({
      file: await toFile(Buffer.from(lines), 'in.jsonl'),
      purpose: 'batch',
    });
    const batch = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    const [job, video] = await Promise.all([
      client.fineTuning.jobs.create({ model: 'gpt-4o-mini', training_file: file.id }),
      client.videos.create({ prompt: 'A cat' }),
    ]);
    expect([job.status, video.status]).toEqual(['validating_files', 'queued']);
    await eventually(
      async () => expect((await client.batches.retrieve(batch.id)).status).toBe('completed'),
      { intervalMs: 300 },
    );
    const output = await fetch(`${origin()}/v1/batches/${batch.id}/output`, {
      headers: { ...headers, 'x-service-api-key': key() },
    });
    const rows = (await output.text()).trim().split('\n');
    expect(rows.map((text) => JSON.parse(text))).toMatchObject([
      { custom_id: 'one', response: { status_code: 200, body: { object: 'chat.completion' } } },
      { custom_id: 'two', response: { status_code: 429 } },
    ]);
    expect(await (await client.files.content(file.id)).text()).toBe(lines);
    expect((await client.files.delete(file.id)).deleted).toBe(true);
  });
});

describe.concurrent('GET /v1/models', () => {
  it('lists a vendor’s models in OpenAI’s words', async () => {
    const { upstream, headers } = await vendor(
      'elevenlabs',
      json(200, [{ model_id: 'eleven_v3', name: 'Eleven v3' }]),
    );
    const models = [];
    for await (const model of openAiAt(headers).models.list()) models.push(model);
    expect(models).toEqual([
      { id: 'eleven_v3', object: 'model', created: 0, owned_by: 'elevenlabs', name: 'Eleven v3' },
    ]);
    expect(upstream.requests[0]).toMatchObject({ method: 'GET', path: '/models' });
  });
});

describe.concurrent('POST /v1/explain', () => {
  it('explains every kind of endpoint, forms as forms', async () => {
    const { upstream, headers } = await vendor('deepgram', json(200, {}));
    const form = await post(
      '/v1/explain/audio/transcriptions',
      headers,
      soundForm({ model: 'nova-3' }),
    );
    expect(await form.json()).toMatchObject({
      endpoint: 'createTranscription',
      plan: [{ provider: 'deepgram', model: 'nova-3' }],
    });
    const rerank = await post(
      '/v1/explain?endpoint=rerank',
      { ...headers, 'x-service-provider': 'jina' },
      { model: 'm', query: 'q', documents: ['a'] },
    );
    expect(await rerank.json()).toMatchObject({ endpoint: 'rerank', plan: [{ provider: 'jina' }] });
    const lacking = await post('/v1/explain/images/edits', headers, soundForm({ model: 'm' }));
    expect(await lacking.json()).toMatchObject({
      would_fail: { code: 'provider.endpoint_unsupported' },
    });
    expect(upstream.requests).toHaveLength(0);
  });
});
