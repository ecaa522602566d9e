import { create } from '@bufbuild/protobuf';
import { attributesOf, SpanSchema, type ToldUse, useAttributes } from '@sluice/otlp';
import { costOfReply, PriceBook, tokensOf, unitsOf } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOfCall } from './record-of-call.ts';
import { readAttributes, readCall } from './told-call.ts';

const book = new PriceBook();
const owner = {
  organisationId: 'o',
  workspaceId: 'w',
  workspaceSlug: 'w',
  apiKeyId: 'k',
  userId: '',
};
const startMs = Date.UTC(2026, 10, 23, 12);
const place = {
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 1),
  parentSpanId: Buffer.alloc(0),
  spanName: 'chat',
  startMs,
  endMs: startMs + 10,
  hasFailed: false,
};

type Told = Parameters<typeof attributesOf>[0];

/** What becomes of a span with these attributes. */
function recordOf(attributes: Told): usage.UsageRecord {
  const sent = attributesOf({ 'gen_ai.operation.name': 'chat', ...attributes });
  const span = create(SpanSchema, { attributes: sent });
  const call = readCall(readAttributes(span.attributes), new Map());
  if (call === undefined) throw new Error('it is no call');
  return create(usage.UsageRecordSchema, recordOfCall(call, place, owner, book));
}

/** Each is paid for by other things. */
const models = [
  ['openai', 'gpt-4o'],
  ['openai', 'gpt-4o-search-preview'],
  ['openai', 'whisper-1'],
  ['openai', 'tts-1'],
  ['openai', 'dall-e-3'],
  ['openai', 'gpt-image-1'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['cohere', 'rerank-v3.5'],
  ['mistral-ai', 'mistral-ocr-latest'],
  ['perplexity-ai', 'sonar'],
  ['google', 'gemini-2.5-flash'],
  ['nobody', 'knows'],
] as const;

const count = fc.oneof(fc.constant(0n), fc.bigInt(0n, 5_000_000n));
const counted = (names: string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.bigInt(1n, 1_000n), { noNullPrototype: true });
const tokenFields = {
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  cacheWrite1hTokens: count,
  reasoningTokens: count,
  inputAudioTokens: count,
  outputAudioTokens: count,
  cacheReadAudioTokens: count,
  inputImageTokens: count,
  outputImageTokens: count,
};
const otherFields = {
  images: count,
  searchUnits: count,
  pages: count,
  characters: count,
  audioSeconds: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 100_000, noNaN: true })),
  units: counted([
    'web_search',
    'file_search',
    'x_search',
    'maps',
    'code_execution',
    'annotated_page',
    'input_video_token',
    'citation_token',
    'web_search_low_context',
    'charged_request_token',
    'charged_response_token',
  ]),
  imagesByKind: counted(['default.default', 'hd.1024x1024', 'high.1536x1024', 'default.512x512']),
};
const noTokens = Object.fromEntries(Object.keys(tokenFields).map((field) => [field, 0n]));
const anyUse = fc
  .tuple(
    fc.constantFrom('reported', 'estimated', 'none'),
    fc.record(tokenFields),
    fc.record(otherFields),
  )
  .map(([how, tokens, others]) => ({
    ...(how === 'none' ? noTokens : tokens),
    ...others,
    usageReported: how === 'reported',
    usageEstimated: how === 'estimated',
  })) as fc.Arbitrary<ToldUse>;

describe('a span that a gateway tells of its record', () => {
  it('is read as what the record has, and priced as that is', () => {
    const priced = new Set<string>();
    fc.assert(
      fc.property(anyUse, fc.constantFrom(...models), (use, [provider, model]) => {
        const record = recordOf({
          'service.provider': provider,
          'gen_ai.request.model': model,
          ...useAttributes(use),
        });
        expect(record).toMatchObject(use);
        const rates = book.lookUp({ provider, model, atMs: startMs });
        const cost = rates && costOfReply(rates, tokensOf(use), unitsOf(use));
        expect(record.costKnown).toBe(cost !== undefined);
        if (cost === undefined) return;
        priced.add(model);
        expect(record.costNanoUsd).toBe(BigInt(cost.totalNanoUsd));
        expect(record.inputCostNanoUsd).toBe(BigInt(cost.inputNanoUsd));
        expect(record.outputCostNanoUsd).toBe(BigInt(cost.outputNanoUsd));
      }),
      { numRuns: 1000 },
    );
    // Units alone have a price: it is not tokens that most of these are paid by.
    expect(priced.size).toBe(models.length - 1);
  });

  it('of units alone has no tokens, and a price', () => {
    const record = recordOf({
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'tts-1',
      'service.usage.characters': 1000,
    });
    // 15 USD a million.
    expect(record).toMatchObject({
      usageReported: false,
      characters: 1000n,
      costNanoUsd: 15_000_000n,
    });
  });
});

describe('a span of anybody’s', () => {
  it.each<[string, Told]>([
    ['counts below zero', { 'service.usage.pages': -1, 'service.usage.audio_seconds': -0.5 }],
    [
      'counts beyond any answer',
      { 'service.usage.images': 2e9, 'service.usage.units.web_search': 1e15 },
    ],
    ['parts of what comes in wholes', { 'service.usage.characters': 1.5 }],
    [
      'counts that are texts',
      { 'service.usage.search_units': '5', 'service.usage.units.maps': 'x' },
    ],
    ['names that are none', { 'service.usage.units.__proto__': 5, 'service.usage.units.A b': 5 }],
    ['kinds that are none', { 'service.usage.images_by_kind.__proto__': 5 }],
    ['names of any length', { [`service.usage.units.${'a'.repeat(200)}`]: 1 }],
  ])('with %s is kept without them', (_name, attributes) => {
    const record = recordOf({
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      ...attributes,
    });
    expect(record).toMatchObject({ costKnown: false, pages: 0n, images: 0n, audioSeconds: 0 });
    expect([record.units, record.imagesByKind]).toEqual([{}, {}]);
  });

  it('with units of thousands of names has a few of them', () => {
    const many = Array.from(
      { length: 5000 },
      (_, at) => [`service.usage.units.u${at}`, 1] as const,
    );
    const record = recordOf({ 'gen_ai.provider.name': 'openai', ...Object.fromEntries(many) });
    expect(Object.keys(record.units)).toHaveLength(32);
  });
});
