import { readFileSync } from 'node:fs';
import { calcPrice } from '@pydantic/genai-prices';
import { type ChatUsage, noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { catalogueVersion } from './catalogue.ts';
import { costOf } from './cost.ts';
import { readCustomPrices } from './custom-prices.ts';
import { listVersion, PriceBook, type PriceQuery } from './price-book.ts';
import type { Rates } from './rates.ts';

const lookUpRates = (query: PriceQuery): Rates | undefined => new PriceBook().lookUp(query);
/** As an administrator enters them, in cents a token. */
const custom = (payAsYouGo: object, more: object = {}) =>
  readCustomPrices({ type: 'static', pay_as_you_go: payAsYouGo, ...more }, 'custom@test');

const atMs = Date.UTC(2026, 5, 1, 12);

/** Our provider and model beside the catalogue's id and name. */
const models = [
  ['openai', 'gpt-4o-mini', 'openai', 'gpt-4o-mini'],
  ['openai', 'gpt-4o-2024-08-06', 'openai', 'gpt-4o-2024-08-06'],
  ['openai', 'gpt-realtime', 'openai', 'gpt-realtime'],
  ['anthropic', 'claude-sonnet-4-5-20250929', 'anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-3-5-haiku-20241022', 'anthropic', 'claude-3-5-haiku-20241022'],
  ['google', 'models/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
  ['vertex-ai', 'publishers/google/models/gemini-2.5-flash', 'google', 'gemini-2.5-flash'],
  ['bedrock', 'amazon.nova-sonic-v1:0', 'aws', 'amazon.nova-sonic-v1:0'],
  ['azure-openai', 'gpt-4o', 'azure', 'gpt-4o'],
  ['mistral-ai', 'mistral-large-latest', 'mistral', 'mistral-large-latest'],
  ['perplexity-ai', 'sonar-deep-research', 'perplexity', 'sonar-deep-research'],
  ['groq', 'llama-3.3-70b-versatile', 'groq', 'llama-3.3-70b-versatile'],
] as const;

const usages: Record<string, Partial<ChatUsage>> = {
  plain: { inputTokens: 1000, outputTokens: 500 },
  'cached in part': { inputTokens: 12_345, cacheReadTokens: 10_000, outputTokens: 77 },
  'just at a context tier': { inputTokens: 200_000, outputTokens: 10 },
  'above a context tier': { inputTokens: 250_000, cacheReadTokens: 50_000, outputTokens: 3000 },
  'cache written for five minutes': { inputTokens: 9000, cacheWriteTokens: 8000, outputTokens: 20 },
  audio: { inputTokens: 900, inputAudioTokens: 800, outputTokens: 400, outputAudioTokens: 350 },
  reasoning: { inputTokens: 100, outputTokens: 4000, reasoningTokens: 3500 },
};

describe('PriceBook and costOf', () => {
  for (const [provider, model, catalogueId, catalogueModel] of models)
    for (const [name, usage] of Object.entries(usages))
      it(`prices ${provider} ${model} as its price list does: ${name}`, () =>
        expectSameCost({ provider, model, catalogueId, catalogueModel }, usage));

  it('prices an hour-long cache write of Claude as the price list does', () =>
    expectSameCost(
      {
        provider: 'anthropic',
        model: 'claude-sonnet-4-5',
        catalogueId: 'anthropic',
        catalogueModel: 'claude-sonnet-4-5',
      },
      {
        inputTokens: 9000,
        cacheReadTokens: 500,
        cacheWriteTokens: 8000,
        cacheWrite1hTokens: 5000,
        outputTokens: 20,
      },
    ));

  it('charges twice the input for an hour-long cache write of Claude where the list omits it', () => {
    const tier = lookUpRates({
      provider: 'bedrock',
      model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
      atMs,
    })?.tiers[0];
    expect(tier).toMatchObject({ input: 3000, cacheWrite: 3750, cacheWrite1h: 6000 });
  });
});

describe('PriceBook', () => {
  it('does not guess a price for a provider or model that nobody listed', () => {
    expect(lookUpRates({ provider: 'ollama', model: 'gpt-4o', atMs })).toBeUndefined();
    expect(lookUpRates({ provider: 'openai', model: 'no-such-model', atMs })).toBeUndefined();
    expect(lookUpRates({ provider: 'constructor', model: 'gpt-4o', atMs })).toBeUndefined();
    expect(lookUpRates({ provider: 'huggingface', model: 'a/b:openai', atMs })).toBeUndefined();
    expect(lookUpRates({ provider: 'openai', model: '', atMs })).toBeUndefined();
  });

  it('does not price by token what is sold by the minute', () =>
    expect(lookUpRates({ provider: 'openai', model: 'whisper-1', atMs })).toMatchObject({
      layer: 'catalogue',
      version: listVersion,
      requestNanoUsd: 0,
      tiers: [],
      units: { audioSeconds: 100_000 },
    }));

  it.each([
    ['demo', 'gpt-4o-mini', 'openai', 'gpt-4o-mini'],
    ['openai', '@my-openai/gpt-4o-mini', 'openai', 'gpt-4o-mini'],
    ['openai', 'gpt-4o-2031-01-01', 'openai', 'gpt-4o'],
    ['vertex-ai', 'claude-sonnet-4-5@20250929', 'vertex-ai', 'claude-sonnet-4-5'],
    [
      'bedrock',
      'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-pro-v1:0',
      'bedrock',
      'amazon.nova-pro-v1:0',
    ],
    [
      'fireworks-ai',
      'deepseek-r1-0528',
      'fireworks-ai',
      'accounts/fireworks/models/deepseek-r1-0528',
    ],
    [
      'huggingface',
      'deepseek-ai/DeepSeek-R1:together',
      'huggingface',
      '@hf/deepseek-ai/DeepSeek-R1:together',
    ],
  ])('finds %s %s under the name the list uses', (provider, model, sameProvider, sameModel) => {
    const rates = lookUpRates({ provider, model, atMs });
    expect(rates).toBeDefined();
    expect(rates).toEqual(lookUpRates({ provider: sameProvider, model: sameModel, atMs }));
  });

  it('uses the price of the day', () => {
    const then = lookUpRates({ provider: 'openai', model: 'o3', atMs: Date.UTC(2025, 4, 1) });
    const now = lookUpRates({ provider: 'openai', model: 'o3', atMs });
    expect(then?.tiers[0]?.input).toBe(10_000);
    expect(now?.tiers[0]?.input).toBe(2000);
  });

  it('prefers what an administrator entered, in cents per token', () => {
    const rates = lookUpRates({
      provider: 'ollama',
      model: 'mine',
      atMs,
      custom: custom({ request_token: { price: 0.00025 }, response_token: { price: 0.001 } }),
    });
    expect(rates?.layer).toBe('custom');
    expect(
      costOf(rates!, { ...noUsage, inputTokens: 1000, cacheReadTokens: 400, outputTokens: 10 }),
    ).toEqual({
      inputNanoUsd: 2_500_000,
      outputNanoUsd: 100_000,
      totalNanoUsd: 2_600_000,
    });
  });

  it('keeps the listed price of the side an administrator left out', () => {
    const rates = lookUpRates({
      provider: 'openai',
      model: 'gpt-4o-mini',
      atMs,
      custom: custom({ response_token: { price: 0 } }),
    });
    expect(rates).toMatchObject({
      layer: 'custom',
      tiers: [{ input: 150, cacheRead: 75, output: 0 }],
    });
  });
});

describe('listVersion', () => {
  it('names the installed catalogue', () => {
    const manifest = new URL(
      '../node_modules/@pydantic/genai-prices/package.json',
      import.meta.url,
    );
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    expect(catalogueVersion).toBe(`genai-prices@${version}`);
    expect(listVersion).toMatch(/^genai-prices@[\d.]+\+\d{4}-\d{2}-\d{2}(?:\.\d+)?$/);
  });
});

interface Case {
  provider: string;
  model: string;
  catalogueId: string;
  catalogueModel: string;
}

function expectSameCost(names: Case, some: Partial<ChatUsage>): void {
  const usage = { ...noUsage, ...some };
  const rates = lookUpRates({ provider: names.provider, model: names.model, atMs });
  const cost = costOf(rates!, usage);
  const expected = calcPrice(
    {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      cache_write_1h_tokens: usage.cacheWrite1hTokens,
      input_audio_tokens: usage.inputAudioTokens,
      output_audio_tokens: usage.outputAudioTokens,
      output_reasoning_tokens: usage.reasoningTokens,
      // The library wants to be told of overlaps it cannot work out.
      cache_audio_read_tokens: 0,
      cache_audio_write_tokens: 0,
      output_audio_reasoning_tokens: 0,
    },
    names.catalogueModel,
    { providerId: names.catalogueId, timestamp: new Date(atMs) },
  );
  // One nano-dollar a side: the library adds binary fractions of dollars, we add nano-dollars.
  expect(Math.abs(cost.totalNanoUsd - expected!.total_price * 1e9)).toBeLessThanOrEqual(1.5);
  expect(Math.abs(cost.inputNanoUsd - expected!.input_price * 1e9)).toBeLessThanOrEqual(0.75);
  expect(Math.abs(cost.outputNanoUsd - expected!.output_price * 1e9)).toBeLessThanOrEqual(0.75);
  expect(Object.values(cost).every(Number.isSafeInteger)).toBe(true);
}
