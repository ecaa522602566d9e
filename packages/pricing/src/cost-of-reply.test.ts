import { describe, expect, it } from 'vitest';
import { costOfReply } from './cost.ts';
import { readCustomPrices } from './custom-prices.ts';
import { PriceBook } from './price-book.ts';
import type { Rates } from './rates.ts';

const atMs = Date.UTC(2026, 5, 1);
const ratesOf = (provider: string, model: string): Rates => {
  const rates = new PriceBook().lookUp({ provider, model, atMs });
  if (rates === undefined) throw new Error(`${model} has no price`);
  return rates;
};

const tokens = {
  inputTokens: 100,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};

describe('costOfReply', () => {
  it('charges a minute of Whisper at 0.6 cents', () => {
    const cost = costOfReply(ratesOf('openai', 'whisper-1'), undefined, { audioSeconds: 60 });
    expect(cost).toEqual({ totalNanoUsd: 6_000_000, inputNanoUsd: 6_000_000, outputNanoUsd: 0 });
  });

  it('charges pages, and annotated ones at their own price', () => {
    const rates = ratesOf('mistral-ai', 'mistral-ocr-2505');
    expect(costOfReply(rates, undefined, { pages: 3 })?.totalNanoUsd).toBe(3_000_000);
    expect(costOfReply(rates, undefined, { pages: 3, annotatedPages: 3 })?.totalNanoUsd).toBe(
      9_000_000,
    );
  });

  it('charges image tokens of the input at their own price', () => {
    const rates = ratesOf('openai', 'gpt-image-1');
    expect(costOfReply(rates, tokens, { searchUnits: 1 })?.inputNanoUsd).toBe(500_000);
    expect(costOfReply(rates, { ...tokens, inputImageTokens: 40 }, undefined)?.inputNanoUsd).toBe(
      60 * 5000 + 40 * 10_000,
    );
  });

  it.each([
    ['openai', 'sora-2-pro', { videoSeconds: 12, videoSize: '1792x1024' }, 6_000_000_000],
    ['openai', 'sora-2', { videoSeconds: 8, videoSize: '720x1280' }, 800_000_000],
    ['openai', 'sora-2', { videoSeconds: 8, videoSize: '9x9' }, undefined],
    [
      'vertex-ai',
      'veo-3.0-generate-001',
      { videoSeconds: 8, videoSize: '1920x1080' },
      1_600_000_000,
    ],
    ['openai', 'gpt-4o-mini-2024-07-18', { trainedTokens: 5768 }, 17_304_000],
    ['openai', 'o4-mini-2025-04-16', { trainingSeconds: 5400 }, 150_000_000_000],
    ['openai', 'gpt-4o', { trainedTokens: 5768 }, undefined],
  ])('charges jobs of %s by %s: %j', (provider, model, units, nano) => {
    const rates = new PriceBook().lookUp({ provider, model, atMs }) as Rates;
    expect(costOfReply(rates, undefined, units)?.totalNanoUsd).toBe(nano);
  });

  it('charges jobs by what an operator lists: seconds by size, training by the token before the hour', () => {
    const rates = (finetune: object) =>
      new PriceBook().lookUp({
        provider: 'openai',
        model: 'own',
        atMs,
        custom: readCustomPrices(
          {
            pay_as_you_go: {
              additional_units: {
                video_seconds: { price: 1 },
                video_duration_seconds_1280_720: { price: 2 },
              },
            },
            finetune_config: finetune,
          },
          'v',
        ),
      }) as Rates;
    const hour = { pay_per_hour: { price: 3600 } };
    const cost = (finetune: object, units: object) =>
      costOfReply(rates(finetune), undefined, units)?.totalNanoUsd;
    expect(cost(hour, { videoSeconds: 4, videoSize: '1280x720' })).toBe(80_000_000);
    expect(cost(hour, { videoSeconds: 4, videoSize: '1x1' })).toBe(40_000_000);
    expect(cost(hour, { trainedTokens: 10, trainingSeconds: 5 })).toBe(50_000_000);
    const both = { ...hour, pay_per_token: { price: 0.5 } };
    expect(cost(both, { trainedTokens: 10, trainingSeconds: 5 })).toBe(50_000_000);
    expect(cost({ ...hour, pay_per_token: { price: 0 } }, { trainingSeconds: 5 })).toBe(50_000_000);
  });

  it('does not know the cost of what was not counted', () => {
    const whisper = ratesOf('openai', 'whisper-1');
    expect(costOfReply(whisper, undefined, undefined)).toBeUndefined();
    expect(costOfReply(whisper, tokens, { characters: 5 })).toBeUndefined();
    const chat = ratesOf('openai', 'gpt-4o-mini');
    expect(costOfReply(chat, undefined, { audioSeconds: 5 })).toBeUndefined();
    expect(costOfReply(chat, tokens, { audioSeconds: 5 })?.totalNanoUsd).toBe(100 * 150 + 10 * 600);
  });

  it('adds tokens and units, in whole nano-dollars that are never negative', () => {
    const rates: Rates = {
      ...ratesOf('openai', 'gpt-4o-mini'),
      units: { searchUnits: 0.4, characters: 0.3 },
    };
    expect(costOfReply(rates, tokens, { searchUnits: 1, characters: 1 })).toEqual({
      totalNanoUsd: 21_001,
      inputNanoUsd: 15_001,
      outputNanoUsd: 6000,
    });
    expect(costOfReply(rates, undefined, { searchUnits: -4, characters: Number.NaN })).toEqual({
      totalNanoUsd: 0,
      inputNanoUsd: 0,
      outputNanoUsd: 0,
    });
  });

  it('lets a custom price of tokens stand beside the listed price of units', () => {
    const rates = new PriceBook().lookUp({
      provider: 'openai',
      model: 'whisper-1',
      atMs,
      custom: readCustomPrices({ pay_as_you_go: { request_token: { price: 0.001 } } }, 'custom@1'),
    });
    expect(costOfReply(rates as Rates, tokens, undefined)?.totalNanoUsd).toBe(1_000_000);
    expect(costOfReply(rates as Rates, undefined, { audioSeconds: 60 })?.totalNanoUsd).toBe(
      6_000_000,
    );
  });
});
