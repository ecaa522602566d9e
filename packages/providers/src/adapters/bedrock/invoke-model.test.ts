import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject, ReplyHead } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const bedrock = findProvider('bedrock')!;
const counted: ReplyHead = {
  status: 200,
  headers: {
    'x-amzn-requestid': 'req-1',
    'x-amzn-bedrock-input-token-count': '11',
    'x-amzn-bedrock-output-token-count': '22',
  },
};

function contextOf(request: JsonObject, strict = true) {
  const setting = (name: string) => (name === 'aws-region' ? 'eu-west-1' : undefined);
  return contextFor(bedrock, strict, { model: String(request.model), request, setting });
}

function encode(endpoint: Endpoint, body: JsonObject) {
  const context = contextOf(body);
  return findTranslation(bedrock, endpoint, context).encode(body, context);
}

function decode(endpoint: Endpoint, request: JsonObject, reply: object, strict = true) {
  const context = contextOf(request, strict);
  const call = findTranslation(bedrock, endpoint, context);
  const { body, facts } = call.decode(Buffer.from(JSON.stringify(reply)), context, counted);
  return { body: JSON.parse(String(body)), facts };
}

describe('embeddings', () => {
  it.each([
    [
      {
        model: 'amazon.titan-embed-text-v2:0',
        input: 'a',
        dimensions: 256,
        normalize: true,
        embedding_types: ['float'],
        x: 1,
      },
      {
        body: { inputText: 'a', dimensions: 256, normalize: true, embeddingTypes: ['float'] },
        dropped: ['x'],
      },
    ],
    [
      { model: 'amazon.titan-embed-text-v1', input: ['a'], dimensions: 256 },
      { body: { inputText: 'a' }, dropped: ['dimensions'] },
    ],
    [
      {
        model: 'amazon.titan-embed-image-v1',
        input: [{ text: 'a', image: { base64: 'data:image/png;base64,aW1n' } }],
        dimensions: 384,
      },
      {
        body: {
          inputText: 'a',
          inputImage: 'aW1n',
          embeddingConfig: { outputEmbeddingLength: 384 },
        },
        dropped: [],
      },
    ],
    [
      { model: 'amazon.nova-2-multimodal-embeddings-v1:0', input: 'a', dimensions: 1024 },
      {
        body: {
          taskType: 'SINGLE_EMBEDDING',
          singleEmbeddingParams: {
            embeddingPurpose: 'GENERIC_INDEX',
            embeddingDimension: 1024,
            text: { truncationMode: 'END', value: 'a' },
          },
        },
        dropped: [],
      },
    ],
    [
      {
        model: 'amazon.nova-2-multimodal-embeddings-v1:0',
        input: { image: '/9j/aW1n' },
        embedding_purpose: 'IMAGE_RETRIEVAL',
      },
      {
        body: {
          taskType: 'SINGLE_EMBEDDING',
          singleEmbeddingParams: {
            embeddingPurpose: 'IMAGE_RETRIEVAL',
            image: { format: 'jpeg', source: { bytes: '/9j/aW1n' } },
          },
        },
        dropped: [],
      },
    ],
    [
      {
        model: 'us.cohere.embed-v4:0',
        input: ['a', 'b'],
        truncate: 'END',
        dimensions: 512,
        encoding_format: 'float',
        user: 'u',
      },
      {
        body: {
          texts: ['a', 'b'],
          input_type: 'search_document',
          truncate: 'END',
          output_dimension: 512,
        },
        dropped: [],
      },
    ],
    [
      { model: 'cohere.embed-english-v3', input: [{ image: 'data:image/png;base64,aW1n' }] },
      { body: { images: ['data:image/png;base64,aW1n'], input_type: 'image' }, dropped: [] },
    ],
  ])('sends %j in the family’s words', (body, expected) => {
    expect(encode('embed', body as never)).toEqual(expected);
  });

  it.each([
    ['amazon.titan-embed-text-v2:0', ['a', 'b'], 'body.input'],
    ['amazon.titan-embed-image-v1', ['a', 'b'], 'body.input'],
    ['amazon.nova-2-multimodal-embeddings-v1:0', ['a', 'b'], 'body.input'],
    ['amazon.titan-embed-text-v2:0', [], 'body.input'],
    ['amazon.titan-embed-text-v2:0', undefined, 'body.input'],
    ['amazon.titan-embed-text-v2:0', [{ image: 'x' }], 'body.input'],
    ['cohere.embed-english-v3', [[1, 2]], 'body.input[0]'],
  ])('refuses from %s the input %j', (model, input, field) => {
    expect(() => encode('embed', { model, input } as never)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('says that one input a request is what the model embeds', () => {
    expect(() =>
      encode('embed', { model: 'amazon.titan-embed-text-v2:0', input: ['a', 'b'] }),
    ).toThrow(/embeds one input a request/);
  });

  const replies: [string, JsonObject, object, unknown[], number][] = [
    [
      'Titan',
      { model: 'amazon.titan-embed-text-v2:0' },
      { embedding: [1, 2], inputTextTokenCount: 5 },
      [[1, 2]],
      5,
    ],
    [
      'Titan binary',
      { model: 'amazon.titan-embed-text-v2:0' },
      { embeddingsByType: { binary: [1, 0] } },
      [[1, 0]],
      11,
    ],
    [
      'Nova',
      { model: 'amazon.nova-2-multimodal-embeddings-v1:0' },
      { embeddings: [{ embeddingType: 'TEXT', embedding: [0.5] }] },
      [[0.5]],
      11,
    ],
    ['Cohere', { model: 'cohere.embed-v4:0' }, { embeddings: [[1], [2]] }, [[1], [2]], 11],
    [
      'Cohere by type',
      { model: 'cohere.embed-v4:0', embedding_types: ['int8'] },
      { embeddings: { int8: [[3]] } },
      [[3]],
      11,
    ],
    ['Cohere float', { model: 'cohere.embed-v4:0' }, { embeddings: { float: [[3]] } }, [[3]], 11],
  ];
  it.each(replies)('reads what %s answers', (_, request, reply, vectors, inputTokens) => {
    const { body, facts } = decode('embed', request, reply);
    expect(body).toEqual({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: request.model,
      provider: 'bedrock',
      usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
    });
    expect(facts.usage).toMatchObject({ inputTokens });
  });

  it('packs vectors as OpenAI’s clients ask for them', () => {
    const request = { model: 'cohere.embed-v4:0', encoding_format: 'base64' };
    const { body } = decode('embed', request, { embeddings: [[1, -2.5]] });
    const bytes = Buffer.from(body.data[0].embedding, 'base64');
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([1, -2.5]);
  });

  it('does not take other JSON for embeddings', () => {
    for (const model of replies.map(([, request]) => request))
      expect(() => decode('embed', model, { message: 'no' })).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
  });
});

describe('images', () => {
  it.each([
    [
      {
        model: 'amazon.nova-canvas-v1:0',
        prompt: 'cat',
        n: 2,
        size: '512x768',
        quality: 'hd',
        seed: 1,
        negative_prompt: 'dog',
        style: 'vivid',
        response_format: 'b64_json',
      },
      {
        body: {
          taskType: 'TEXT_IMAGE',
          textToImageParams: { text: 'cat', negativeText: 'dog' },
          imageGenerationConfig: {
            width: 512,
            height: 768,
            numberOfImages: 2,
            quality: 'premium',
            seed: 1,
          },
        },
        dropped: ['style'],
      },
    ],
    [
      { model: 'amazon.titan-image-generator-v2:0', prompt: 'cat' },
      { body: { taskType: 'TEXT_IMAGE', textToImageParams: { text: 'cat' } }, dropped: [] },
    ],
    [
      {
        model: 'stability.stable-diffusion-xl-v1',
        prompt: 'cat',
        n: 1,
        size: '1024x1024',
        style: 'anime',
        x: 1,
      },
      {
        body: {
          text_prompts: [{ text: 'cat', weight: 1 }],
          width: 1024,
          height: 1024,
          samples: 1,
          style_preset: 'anime',
        },
        dropped: ['x'],
      },
    ],
    [
      {
        model: 'us.stability.stable-image-core-v1:1',
        prompt: 'cat',
        size: '1792x1024',
        output_format: 'png',
        seed: 3,
      },
      { body: { prompt: 'cat', aspect_ratio: '16:9', seed: 3, output_format: 'png' }, dropped: [] },
    ],
  ])('asks with %j in the family’s words', (body, expected) => {
    expect(encode('imageGenerate', body as never)).toEqual(expected);
  });

  it.each([
    [{ model: 'stability.sd3-5-large-v1:0', prompt: 'cat', n: 2 }, 'body.n'],
    [{ model: 'amazon.nova-canvas-v1:0' }, 'body.prompt'],
    [{ model: 'amazon.nova-canvas-v1:0', prompt: 'cat', size: 'large' }, 'body.size'],
  ])('refuses %j', (body, field) => {
    expect(() => encode('imageGenerate', body as never)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it.each([
    ['amazon.nova-canvas-v1:0', { images: ['a', 'b'] }, 2],
    [
      'stability.stable-diffusion-xl-v1',
      { artifacts: [{ base64: 'a', finishReason: 'SUCCESS' }] },
      1,
    ],
    ['stability.sd3-5-large-v1:0', { images: ['a'], seeds: [1], finish_reasons: [null] }, 1],
  ])('reads what %s answers, and counts it', (model, reply, images) => {
    const { body, facts } = decode('imageGenerate', { model }, reply);
    expect(body.data).toEqual(['a', 'b'].slice(0, images).map((b64_json) => ({ b64_json })));
    expect(body).toMatchObject({ created: 1_763_000_000, provider: 'bedrock' });
    expect(facts.units).toEqual({ images });
  });

  it('does not take an answer without an image for one', () => {
    expect(() =>
      decode(
        'imageGenerate',
        { model: 'stability.sd3-5-large-v1:0' },
        { finish_reasons: ['Filter reason: prompt'] },
      ),
    ).toThrow(expect.objectContaining({ code: 'upstream.invalid_response' }));
  });
});

describe('completions', () => {
  const asked = { prompt: 'Once', max_tokens: 9, temperature: 0, top_p: 0.5, stop: 'END' };
  const families: [string, JsonObject, string[], object, object][] = [
    [
      'amazon.titan-text-express-v1',
      {
        inputText: 'Once',
        textGenerationConfig: {
          maxTokenCount: 9,
          temperature: 0,
          topP: 0.5,
          stopSequences: ['END'],
        },
      },
      [],
      {
        inputTextTokenCount: 3,
        results: [{ tokenCount: 4, outputText: 'upon', completionReason: 'LENGTH' }],
      },
      { finish: 'length', raw: 'LENGTH', tokens: [3, 4] },
    ],
    [
      'us.meta.llama3-8b-instruct-v1:0',
      { prompt: 'Once', max_gen_len: 9, temperature: 0, top_p: 0.5 },
      ['stop'],
      { generation: 'upon', prompt_token_count: 3, generation_token_count: 4, stop_reason: 'stop' },
      { finish: 'stop', raw: 'stop', tokens: [3, 4] },
    ],
    [
      'mistral.mixtral-8x7b-instruct-v0:1',
      { prompt: 'Once', max_tokens: 9, temperature: 0, top_p: 0.5, stop: ['END'] },
      [],
      { outputs: [{ text: 'upon', stop_reason: 'length' }] },
      { finish: 'length', raw: 'length', tokens: [11, 22] },
    ],
    [
      'cohere.command-text-v14',
      { prompt: 'Once', max_tokens: 9, temperature: 0, p: 0.5, stop_sequences: ['END'] },
      [],
      { generations: [{ text: 'upon', finish_reason: 'COMPLETE' }] },
      { finish: 'stop', raw: 'COMPLETE', tokens: [11, 22] },
    ],
    [
      'ai21.j2-ultra-v1',
      { prompt: 'Once', maxTokens: 9, temperature: 0, topP: 0.5, stopSequences: ['END'] },
      [],
      { completions: [{ data: { text: 'upon' }, finishReason: { reason: 'endoftext' } }] },
      { finish: 'stop', raw: 'endoftext', tokens: [11, 22] },
    ],
  ];
  it.each(families)(
    '%s is asked and read in its own words',
    (model, body, dropped, reply, told) => {
      const { finish, raw, tokens } = told as {
        finish: string;
        raw: string;
        tokens: [number, number];
      };
      expect(encode('complete', { model, ...asked })).toEqual({ body, dropped });
      const answer = decode('complete', { model }, reply);
      expect(answer.body).toEqual({
        id: 'req-1',
        object: 'text_completion',
        created: 1_763_000_000,
        model,
        provider: 'bedrock',
        choices: [{ text: 'upon', index: 0, logprobs: null, finish_reason: finish }],
        usage: {
          prompt_tokens: tokens[0],
          completion_tokens: tokens[1],
          total_tokens: tokens[0] + tokens[1],
        },
      });
      expect(answer.facts).toMatchObject({
        finishReason: raw,
        usage: { inputTokens: tokens[0], outputTokens: tokens[1] },
      });
      expect(decode('complete', { model }, reply, false).body.choices[0].finish_reason).toBe(raw);
      expect(() => decode('complete', { model }, {})).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
    },
  );

  it.each([[['a', 'b']], [[1, 2]], [[[1]]], [undefined]])('refuses the prompt %j', (prompt) => {
    const body = { model: 'meta.llama3-8b-instruct-v1:0', prompt };
    expect(() => encode('complete', body as never)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.prompt' }),
    );
  });
});

describe('rerank', () => {
  const model = 'cohere.rerank-v3-5:0';
  const request = {
    model,
    query: 'q',
    documents: ['a', { title: 'b' }],
    top_n: 2,
    return_documents: true,
    x: 1,
  };

  it('asks the agents’ runtime, naming the model by its ARN in the region', () => {
    expect(encode('rerank', request)).toEqual({
      body: {
        queries: [{ type: 'TEXT', textQuery: { text: 'q' } }],
        sources: [
          { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text: 'a' } } },
          { type: 'INLINE', inlineDocumentSource: { type: 'JSON', jsonDocument: { title: 'b' } } },
        ],
        rerankingConfiguration: {
          type: 'BEDROCK_RERANKING_MODEL',
          bedrockRerankingConfiguration: {
            numberOfResults: 2,
            modelConfiguration: {
              modelArn: `arn:aws:bedrock:eu-west-1::foundation-model/${model}`,
            },
          },
        },
      },
      dropped: ['x'],
    });
  });

  it('gives the best first, with the documents that were sent', () => {
    const reply = {
      results: [
        { index: 0, relevanceScore: 0.1 },
        { index: 1, relevanceScore: 0.9 },
      ],
    };
    const { body, facts } = decode('rerank', request, reply);
    expect(body).toEqual({
      object: 'list',
      id: 'req-1',
      model,
      provider: 'bedrock',
      results: [
        { index: 1, relevance_score: 0.9, document: { title: 'b' } },
        { index: 0, relevance_score: 0.1, document: { text: 'a' } },
      ],
      usage: { search_units: 1 },
    });
    expect(facts.units).toEqual({ searchUnits: 1 });
  });

  it.each([
    [{ model, documents: ['a'] }, 'body.query'],
    [{ model, query: 'q', documents: [] }, 'body.documents'],
  ])('refuses %j', (body, field) => {
    expect(() => encode('rerank', body as never)).toThrow(expect.objectContaining({ field }));
  });
});

describe('models', () => {
  it('are listed as OpenAI lists them', () => {
    const modelSummaries = [{ modelId: 'amazon.nova-pro-v1:0', providerName: 'Amazon' }, { x: 1 }];
    expect(decode('listModels', { model: '' }, { modelSummaries }).body).toEqual({
      object: 'list',
      data: [
        {
          id: 'amazon.nova-pro-v1:0',
          object: 'model',
          created: 0,
          owned_by: 'Amazon',
          provider: 'bedrock',
        },
      ],
    });
  });
});
