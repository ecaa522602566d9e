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
