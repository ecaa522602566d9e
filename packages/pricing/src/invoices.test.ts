import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { costOfReply } from './cost.ts';
import { readCustomPrices } from './custom-prices.ts';
import { FilePrices } from './file-prices.ts';
import { Multipliers } from './multipliers.ts';
import { readPriceFile } from './open-format.ts';
import { PriceBook, type PriceQuery } from './price-book.ts';

const atMs = Date.UTC(2026, 10, 22, 12);

interface Invoice extends Omit<PriceQuery, 'atMs'> {
  tokens?: Partial<ChatUsage>;
  units?: ReplyUnits;
  /** By hand, from the vendor's public list: in dollars. */
  dollars: number;
}

/** Ten thousand to read, a tenth of them to write. */
const few = { inputTokens: 10_000, outputTokens: 1000 };
const million = { inputTokens: 100_000, cacheReadTokens: 40_000, outputTokens: 10_000 };

const invoices: Readonly<Record<string, Invoice>> = {
  'OpenAI as standard': {
    provider: 'openai',
    model: 'gpt-5.1',
    tokens: million,
    dollars: 0.06 * 1.25 + 0.04 * 0.125 + 0.01 * 10,
  },
  'OpenAI as flex, at half': {
    provider: 'openai',
    model: 'gpt-5.1',
    tier: 'flex',
    tokens: million,
    dollars: (0.06 * 1.25 + 0.04 * 0.125 + 0.01 * 10) / 2,
  },
  'OpenAI as priority, as listed': {
    provider: 'openai',
    model: 'gpt-5.1-2025-11-13',
    tier: 'priority',
    tokens: million,
    dollars: 0.06 * 2.5 + 0.04 * 0.25 + 0.01 * 20,
  },
  'OpenAI with 1.8 times the price of a small model': {
    provider: 'openai',
    model: 'gpt-5-mini',
    tier: 'priority',
    tokens: million,
    dollars: 0.06 * 0.45 + 0.04 * 0.045 + 0.01 * 3.6,
  },
  'OpenAI as fast, which is priority': {
    provider: 'openai',
    model: 'gpt-5.1',
    tier: 'fast',
    tokens: million,
    dollars: 0.06 * 2.5 + 0.04 * 0.25 + 0.01 * 20,
  },
  'OpenAI as fast, at twice the price: GPT-6 Sol': {
    provider: 'openai',
    model: 'gpt-6-sol',
    tier: 'fast',
    tokens: million,
    dollars: 0.06 * 4 + 0.04 * 0.4 + 0.01 * 20,
  },
  'OpenAI as fast, at twice the price: GPT-6 Luna': {
    provider: 'openai',
    model: 'gpt-6-luna',
    tier: 'fast',
    tokens: million,
    dollars: 0.06 * 0.2 + 0.04 * 0.02 + 0.01 * 1,
  },
  'OpenAI as priority by the day of the model': {
    provider: 'openai',
    model: 'gpt-4o-2024-05-13',
    tier: 'priority',
    tokens: few,
    dollars: 0.01 * 8.75 + 0.001 * 26.25,
  },
  'OpenAI in a batch, searches at their full price': {
    provider: 'openai',
    model: 'gpt-5.1',
    tier: 'batch',
    tokens: million,
    units: { webSearches: 3, fileSearches: 2 },
    dollars: (0.06 * 1.25 + 0.04 * 0.125 + 0.01 * 10) / 2 + 3 * 0.01 + 2 * 0.0025,
  },
  'OpenAI within a region': {
    provider: 'openai',
    model: 'gpt-5.4',
    region: 'eu',
    tokens: million,
    dollars: (0.06 * 2.5 + 0.04 * 0.25 + 0.01 * 15) * 1.1,
  },
  'OpenAI within a region, as priority': {
    provider: 'openai',
    model: 'gpt-5.4',
    region: 'eu',
    tier: 'priority',
    tokens: million,
    dollars: (0.06 * 5 + 0.04 * 0.5 + 0.01 * 30) * 1.1,
  },
  'a tier that nobody prices, as standard': {
    provider: 'openai',
    model: 'gpt-5.1',
    tier: 'scale',
    tokens: million,
    dollars: 0.06 * 1.25 + 0.04 * 0.125 + 0.01 * 10,
  },
  'Claude six times as dear when fast': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    tier: 'fast',
    tokens: {
      inputTokens: 10_000,
      cacheWriteTokens: 4000,
      cacheWrite1hTokens: 1000,
      outputTokens: 1000,
    },
    dollars: (0.006 * 5 + 0.003 * 6.25 + 0.001 * 10 + 0.001 * 25) * 6,
  },
  'Claude twice as dear when fast, of a later model': {
    provider: 'anthropic',
    model: 'claude-opus-5-5',
    tier: 'fast',
    tokens: few,
    dollars: 0.01 * 8 + 0.001 * 40,
  },
  'Claude within the US, fast': {
    provider: 'anthropic',
    model: 'claude-opus-4-6',
    tier: 'fast',
    region: 'us',
    tokens: few,
    dollars: (0.01 * 5 + 0.001 * 25) * 6 * 1.1,
  },
  'Claude in a batch with searches': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    tier: 'batch',
    tokens: few,
    units: { webSearches: 4 },
    dollars: (0.01 * 3 + 0.001 * 15) / 2 + 4 * 0.01,
  },
  'Claude of Google in one region': {
    provider: 'vertex-ai',
    model: 'claude-sonnet-4-5@20250929',
    region: 'us-east5',
    tokens: few,
    dollars: (0.01 * 3 + 0.001 * 15) * 1.1,
  },
  'Claude of Google everywhere': {
    provider: 'vertex-ai',
    model: 'claude-sonnet-4-5@20250929',
    region: 'global',
    tokens: few,
    dollars: 0.01 * 3 + 0.001 * 15,
  },
  'Gemini in a long context, as flex': {
    provider: 'google',
    model: 'gemini-2.5-pro',
    tier: 'flex',
    tokens: { inputTokens: 250_000, outputTokens: 2000 },
    dollars: (0.25 * 2.5 + 0.002 * 15) / 2,
  },
  'Gemini as priority': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    tier: 'priority',
    tokens: few,
    dollars: 0.01 * 0.54 + 0.001 * 4.5,
  },
  'Gemini grounded by its searches': {
    provider: 'google',
    model: 'gemini-3-pro-preview',
    tokens: { inputTokens: 1000, outputTokens: 500 },
    units: { webSearches: 3 },
    dollars: 0.001 * 2 + 0.0005 * 12 + 3 * 0.014,
  },
  'an image of Gemini, by its tokens': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    tokens: { inputTokens: 10, outputTokens: 1300, outputImageTokens: 1290 },
    units: { images: 1 },
    dollars: 0.00001 * 0.3 + 0.00001 * 2.5 + 0.00129 * 30,
  },
  'images of DALL·E by quality and size': {
    provider: 'openai',
    model: 'dall-e-3',
    units: { images: 2, imageQuality: 'hd', imageSize: '1792x1024' },
    dollars: 2 * 0.12,
  },
  'images of a size nobody told': {
    provider: 'openai',
    model: 'dall-e-3',
    units: { images: 1 },
    dollars: 0.04,
  },
  'images of which only the quality is told': {
    provider: 'openai',
    model: 'gpt-image-1',
    units: { images: 1, imageQuality: 'high', imageSize: '1536x1024' },
    dollars: 0.25,
  },
  'images of Imagen': {
    provider: 'vertex-ai',
    model: 'imagen-4.0-ultra-generate-001',
    units: { images: 3 },
    dollars: 0.18,
  },
  'images of Imagen where they cost less': {
    provider: 'google',
    model: 'imagen-3.0-generate-002',
    units: { images: 1 },
    dollars: 0.03,
  },
  'tools of xAI': {
    provider: 'x-ai',
    model: 'grok-4',
    tokens: { inputTokens: 1000, outputTokens: 100 },
    units: { webSearches: 2, xSearches: 3, codeExecutions: 1 },
    dollars: 0.001 * 3 + 0.0001 * 15 + 6 * 0.005,
  },
  'Perplexity by how much of the web it read': {
    provider: 'perplexity-ai',
    model: 'sonar-pro',
    tokens: { inputTokens: 1000, outputTokens: 1000 },
    units: { searchContext: 'low' },
    dollars: 0.001 * 3 + 0.001 * 15 + 0.006,
  },
  'deep research with what it quoted': {
    provider: 'perplexity-ai',
    model: 'sonar-deep-research',
    tokens: { inputTokens: 100, outputTokens: 2000, citationTokens: 20_000, reasoningTokens: 0 },
    units: { webSearches: 18 },
    dollars: 0.0001 * 2 + 0.002 * 8 + 0.02 * 2 + 18 * 0.005,
  },
  'a rerank by its search units': {
    provider: 'cohere',
    model: 'rerank-v3.5',
    units: { searchUnits: 3 },
    dollars: 0.006,
  },
  'a rerank by the model': {
    provider: 'cohere',
    model: 'rerank-v4.0-pro',
    units: { searchUnits: 2 },
    dollars: 0.005,
  },
  'speech by its characters': {
    provider: 'openai',
    model: 'tts-1-hd',
    units: { characters: 1000 },
    dollars: 0.03,
  },
};

describe('invoices', () => {
  it.each(Object.entries(invoices))('charges %s', (_name, { tokens, units, dollars, ...query }) => {
    expect(nanoUsd(new PriceBook(), query, tokens, units)).toBe(Math.round(dollars * 1e9));
  });

  it.each([
    ['a rerank model newer than the lists', 'cohere', 'rerank-v5.0-pro', { searchUnits: 1 }],
    ['an image model newer than the lists', 'google', 'imagen-5.0-generate-001', { images: 1 }],
  ])('charges nothing known for %s', (_name, provider, model, units) => {
    expect(nanoUsd(new PriceBook(), { provider, model }, undefined, units)).toBeUndefined();
  });

  it('charges a tier that no list has as standard', () => {
    const tokens = few;
    const query = { provider: 'openai', model: 'gpt-6-sol' };
    const standard = nanoUsd(new PriceBook(), query, tokens);
    expect(standard).toBeGreaterThan(0);
    expect(nanoUsd(new PriceBook(), { ...query, tier: 'ultrafast' }, tokens)).toBe(standard);
  });
});

describe('operator’s files', () => {
  const file = {
    default: { pricing_config: { pay_as_you_go: { request_token: { price: 0 } } } },
    mine: {
      pricing_config: {
        pay_as_you_go: {
          request_token: { price: 0.0003 },
          response_token: { price: 0.0015 },
          cached_text_input_token: { price: 0.00003 },
          additional_units: { web_search: { price: 1 }, request: { price: 0.1 } },
          image: { high: { '1024x1024': { price: 4 }, default: { price: 5 } } },
        },
        batch_config: { request_token: { price: 0.0001 } },
        currency: 'USD',
      },
      custom_pricing: {
        context_tier_map: { '0': 'lte-200k', '200000': 'gt-200k' },
        regions: {
          'eu-west-1, eu-central-1': {
            execution_modes: {
              standard: {
                context_tiers: {
                  'lte-200k': {
                    pricing_config: {
                      pay_as_you_go: {
                        request_token: { price: 0.0004 },
                        response_token: { price: 0.002 },
                      },
                    },
                  },
                  'gt-200k': {
                    pricing_config: { pay_as_you_go: { request_token: { price: 0.0008 } } },
                  },
                },
              },
              flex: { pricing_config: { pay_as_you_go: { request_token: { price: 0.0002 } } } },
            },
          },
        },
      },
    },
  };
  const book = bookOf([{ at: 0, file }]);
  const query = { provider: 'somewhere', model: 'mine' };
  const plain = { inputTokens: 100_000, outputTokens: 1000 };

  it('price a model that no catalogue knows, its fee, searches and images with it', () => {
    const units = { webSearches: 2 };
    expect(nanoUsd(book, query, { ...plain, cacheReadTokens: 50_000 }, units)).toBe(
      Math.round((0.05 * 3 + 0.05 * 0.3 + 0.001 * 15 + 2 * 0.01 + 0.001) * 1e9),
    );
    const images = { images: 2, imageQuality: 'high', imageSize: '1x1' };
    expect(nanoUsd(book, query, undefined, images)).toBe((2 * 0.05 + 0.001) * 1e9);
    expect(nanoUsd(book, query, undefined, { images: 2, imageQuality: 'low' })).toBeUndefined();
  });

  it('price what stands beside a context tier that begins at nothing', () => {
    const image = { default: { default: { price: 2 } } };
    const priced = (prices: object) => ({ pricing_config: { pay_as_you_go: prices } });
    const standard = {
      ...priced({
        additional_units: { web_search: { price: 1 }, video_seconds: { price: 3 } },
        image,
      }),
      context_tiers: { short: priced({ request_token: { price: 0.0001 } }) },
    };
    const regions = { default: { execution_modes: { standard } } };
    const model = { custom_pricing: { context_tier_map: { 0: 'short' }, regions } };
    const tiered = bookOf([{ at: 0, file: { mine: model } }]);
    const units = { webSearches: 1, videoSeconds: 1 };
    expect(nanoUsd(tiered, query, { inputTokens: 1000 }, units)).toBe(1_000_000 + 4 * 1e7);
    expect(nanoUsd(tiered, query, undefined, { images: 1 })).toBe(2e7);
  });

  it('price places, tiers and long contexts, each with what is listed there', () => {
    const near = { ...query, region: 'eu-central-1' };
    const tokens = (inputTokens: number) => ({ inputTokens, outputTokens: 1000 });
    expect(nanoUsd(book, near, tokens(200_000))).toBe(
      Math.round((0.2 * 4 + 0.001 * 20 + 0.001) * 1e9),
    );
    expect(nanoUsd(book, near, tokens(200_001))).toBe(
      Math.round((0.200001 * 8 + 0.001 * 20 + 0.001) * 1e9),
    );
    // Its answers have no price of their own there: they cost as the standard does.
    expect(nanoUsd(book, { ...near, tier: 'flex' }, tokens(1000))).toBe(
      Math.round((0.001 * 2 + 0.001 * 20 + 0.001) * 1e9),
    );
    expect(nanoUsd(book, { ...query, tier: 'flex' }, plain)).toBe(nanoUsd(book, query, plain));
    expect(nanoUsd(book, { ...query, region: 'us-east-1' }, plain)).toBe(
      nanoUsd(book, query, plain),
    );
  });

  it('price a place and a tier by the rest of the file where they list a part of it', () => {
    const cents = (price: number) => ({ price });
    const cell = (listed: object) => ({ pricing_config: { pay_as_you_go: listed } });
    const partial = bookOf([
      {
        at: 0,
        file: {
          mine: {
            pricing_config: {
              pay_as_you_go: {
                request_token: cents(0.0001),
                response_token: cents(0.0005),
                cache_read_input_token: cents(0.00001),
              },
            },
            custom_pricing: {
              context_tier_map: { '0': 'short', '200000': 'long' },
              regions: {
                eu: {
                  execution_modes: {
                    standard: {
                      context_tiers: { long: cell({ request_token: cents(0.0002) }) },
                    },
                    flex: cell({ request_token: cents(0.00005) }),
                    batch: cell({ response_token: cents(0.0001) }),
                  },
                },
              },
            },
          },
        },
      },
    ]);
    const eu = { ...query, region: 'eu' };
    const cost = (inputTokens: number, over: object = {}) =>
      nanoUsd(partial, { ...eu, ...over }, { inputTokens, outputTokens: 1000, cacheReadTokens: 0 });
    // Dollars a million tokens: 1 in, 5 out.
    expect(cost(1000)).toBe(0.006 * 1e9);
    expect(cost(300_000)).toBe(Math.round((0.3 * 2 + 0.005) * 1e9));
    expect(cost(1000, { tier: 'flex' })).toBe(0.0055 * 1e9);
    // Half of the place's standard for what goes in, also where it is long.
    expect(cost(1000, { tier: 'batch' })).toBe(0.0015 * 1e9);
    expect(cost(300_000, { tier: 'batch' })).toBe(Math.round((0.3 * 1 + 0.001) * 1e9));
    const read = { inputTokens: 1000, cacheReadTokens: 1000, outputTokens: 0 };
    expect(nanoUsd(partial, eu, read)).toBe(100_000);
    // A tier's price of input stands for all kinds of it.
    expect(nanoUsd(partial, { ...eu, tier: 'flex' }, read)).toBe(500_000);
  });

  it('price batches as they list them, and by half what they leave out', () => {
    expect(nanoUsd(book, { ...query, tier: 'batch' }, plain)).toBe(
      Math.round((0.1 * 1 + (0.001 * 15) / 2 + 0.001) * 1e9),
    );
  });

  it('win over the catalogue, and change on the day that they say', () => {
    const price = (cents: number) => ({
      'gpt-4o-mini': {
        pricing_config: {
          pay_as_you_go: { request_token: { price: cents }, response_token: { price: cents } },
        },
      },
    });
    const dated = bookOf([
      { at: Date.UTC(2026, 11, 1), file: price(0.00002), provider: 'openai' },
      { at: Date.UTC(2026, 10, 1), file: price(0.00001), provider: 'openai' },
    ]);
    const at = (ms: number) => dated.lookUp({ provider: 'openai', model: 'gpt-4o-mini', atMs: ms });
    expect(at(Date.UTC(2026, 10, 1) - 1)).toMatchObject({ layer: 'catalogue' });
    expect(at(Date.UTC(2026, 10, 1))).toMatchObject({ layer: 'file', tiers: [{ input: 100 }] });
    expect(at(Date.UTC(2026, 11, 1) - 1)).toMatchObject({ tiers: [{ input: 100 }] });
    expect(at(Date.UTC(2026, 11, 1))).toMatchObject({
      version: 'files@1',
      tiers: [{ input: 200 }],
    });
  });

  it('find the two tiers of one model in their older spelling', () => {
    const older = bookOf([
      {
        at: 0,
        provider: 'google',
        file: {
          'gemini-x-lte-128k': {
            pricing_config: { pay_as_you_go: { request_token: { price: 0.0001 } } },
          },
          'gemini-x-gt-128k': {
            pricing_config: { pay_as_you_go: { request_token: { price: 0.0002 } } },
          },
        },
      },
    ]);
    const at = { provider: 'google', model: 'gemini-x' };
    expect(nanoUsd(older, at, { inputTokens: 200_000 })).toBe(200_000 * 1000);
    expect(nanoUsd(older, at, { inputTokens: 200_001 })).toBe(200_001 * 2000);
  });
});

describe('prices and multipliers of administrators', () => {
  const custom = readCustomPrices(
    {
      type: 'static',
      pay_as_you_go: {
        request_token: { price: 0.0002 },
        cache_read_input_token: { price: 0.00001 },
        response_token: { price: 0.001 },
        reasoning_token: { price: 0.002 },
        request_audio_token: { price: 0.005 },
        additional_units: { web_search: { price: 3 } },
        image: { default: { default: { price: 7 } } },
      },
    },
    'custom@1',
  );
  const query = { provider: 'openai', model: 'gpt-5.1', custom };

  it('sets every kind of price, and keeps what is not set', () => {
    expect(
      nanoUsd(
        new PriceBook(),
        query,
        {
          inputTokens: 1000,
          cacheReadTokens: 500,
          inputAudioTokens: 100,
          outputTokens: 200,
          reasoningTokens: 150,
        },
        { webSearches: 2, fileSearches: 1 },
      ),
    ).toBe(
      400 * 2000 +
        500 * 100 +
        100 * 50_000 +
        50 * 10_000 +
        150 * 20_000 +
        2 * 30_000_000 +
        2_500_000,
    );
    expect(nanoUsd(new PriceBook(), query, undefined, { images: 2 })).toBe(140_000_000);
    expect(new PriceBook().lookUp({ ...query, atMs })).toMatchObject({
      layer: 'custom',
      version: 'custom@1',
    });
  });

  it('is charged whatever the tier, but half of it in a batch', () => {
    const tokens = { inputTokens: 1000, outputTokens: 1000 };
    const full = 1000 * 2000 + 1000 * 10_000;
    expect(nanoUsd(new PriceBook(), { ...query, tier: 'flex' }, tokens)).toBe(full);
    expect(nanoUsd(new PriceBook(), { ...query, tier: 'batch' }, tokens)).toBe(full / 2);
  });

  it('multiplies last: by the factor of the price, else by that of all', () => {
    const multipliers = new Multipliers({
      default: 2,
      response_token: 3,
      reasoning_token: 5,
      'additional_units.web_search': 0.5,
      'image.default': 10,
    });
    const multiplied = { provider: 'openai', model: 'gpt-5.1', multipliers };
    expect(
      nanoUsd(
        new PriceBook(),
        multiplied,
        { inputTokens: 1000, cacheReadTokens: 400, outputTokens: 300, reasoningTokens: 200 },
        { webSearches: 1, fileSearches: 1 },
      ),
    ).toBe(
      2 * (600 * 1250 + 400 * 125) + 3 * 100 * 10_000 + 5 * 200 * 10_000 + 5_000_000 + 5_000_000,
    );
    expect(
      nanoUsd(new PriceBook(), { ...multiplied, model: 'dall-e-3' }, undefined, { images: 1 }),
    ).toBe(400_000_000);
    expect(
      nanoUsd(
        new PriceBook(),
        { ...multiplied, tier: 'flex', multipliers: new Multipliers({ request_token: 0 }) },
        { inputTokens: 1000, outputTokens: 100 },
      ),
    ).toBe((100 * 10_000) / 2);
  });

  it('multiplies what has no price of its own by the factor of what it is charged as', () => {
    const book = bookOf([
      {
        at: 0,
        file: { m: { pricing_config: { pay_as_you_go: { request_token: { price: 1e-4 } } } } },
      },
    ]);
    const query = {
      provider: 'somewhere',
      model: 'm',
      multipliers: new Multipliers({ default: 7, request_token: 2, request_audio_token: 3 }),
    };
    const tokens = {
      inputTokens: 1000,
      inputImageTokens: 100,
      inputVideoTokens: 10,
      cacheReadTokens: 200,
      cacheWriteTokens: 50,
      cacheWrite1hTokens: 20,
      inputAudioTokens: 300,
    };
    expect(nanoUsd(book, query, tokens)).toBe(700 * 2000 + 300 * 3000);
  });

  it('leave images and videos at their list where they do not price them', () => {
    const image = (sizes: object) => ({ pricing_config: { pay_as_you_go: { image: sizes } } });
    const cents = (price: number) => ({ price });
    const video = (units: object) => ({ pay_as_you_go: { additional_units: units } });
    const book = bookOf([
      {
        at: 0,
        file: {
          drawn: image({
            high: { '1x1': cents(4) },
            default: { '2x2': cents(2), default: cents(3) },
          }),
          filmed: {
            pricing_config: video({
              video_seconds: cents(5),
              video_duration_seconds_1_1: cents(1),
            }),
          },
        },
      },
    ]);
    const of = (model: string, config: object, units: ReplyUnits) =>
      (nanoUsd(
        book,
        { provider: 'somewhere', model, custom: readCustomPrices(config, 'v') },
        undefined,
        units,
      ) ?? Number.NaN) / 1e7;
    const low = { pay_as_you_go: { image: { low: { '1x1': cents(9) } } } };
    const every = { pay_as_you_go: { image: { default: { default: cents(8) } } } };
    const asked = { images: 1, imageQuality: 'low', imageSize: '1x1' };
    expect([
      of('drawn', low, asked),
      of('drawn', low, { ...asked, imageSize: '2x2' }),
      of('drawn', low, { ...asked, imageQuality: 'high' }),
      of('drawn', low, { images: 1 }),
      of('drawn', every, { ...asked, imageQuality: 'high' }),
      of('filmed', video({ video_duration_seconds_2_2: cents(6) }), {
        videoSeconds: 1,
        videoSize: '1x1',
      }),
      of('filmed', video({ video_duration_seconds_2_2: cents(6) }), {
        videoSeconds: 1,
        videoSize: '2x2',
      }),
      of('filmed', video({ video_seconds: cents(6) }), { videoSeconds: 1, videoSize: '1x1' }),
    ]).toEqual([9, 2, 4, 3, 8, 1, 6, 6]);
  });

  it('takes no multiplier that is none', () => {
    const odd = new Multipliers({
      default: Number.NaN,
      request_token: -1,
      response_token: Number.POSITIVE_INFINITY,
    });
    const tokens = { inputTokens: 1000, outputTokens: 100 };
    const listed = { provider: 'openai', model: 'gpt-5.1' };
    expect(nanoUsd(new PriceBook(), { ...listed, multipliers: odd }, tokens)).toBe(
      nanoUsd(new PriceBook(), listed, tokens),
    );
  });
});

interface FileAt {
  at: number;
  file: object;
  provider?: string;
}

function bookOf(files: readonly FileAt[]): PriceBook {
  return new PriceBook(
    new FilePrices(
      files.map(({ at, file, provider = 'somewhere' }, index) => ({
        effectiveAtMs: at,
        providers: new Map([
          [provider, { version: `files@${files.length - index - 1}`, models: read(file) }],
        ]),
      })),
    ),
  );
}

function read(file: object) {
  const reading = readPriceFile(file);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value.models;
}

function nanoUsd(
  book: PriceBook,
  query: Omit<PriceQuery, 'atMs'>,
  tokens: Partial<ChatUsage> | undefined,
  units?: ReplyUnits,
): number | undefined {
  const rates = book.lookUp({ ...query, atMs });
  if (rates === undefined) return undefined;
  const counts = tokens === undefined ? undefined : { ...noUsage, ...tokens };
  return costOfReply(rates, counts, units)?.totalNanoUsd;
}
