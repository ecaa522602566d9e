import { describe, expect, it } from 'vitest';
import { costOf, type TokenCounts } from './cost.ts';
import type { Rates, TokenRates } from './rates.ts';

const base: TokenRates = {
  input: 1000,
  output: 4000,
  cacheRead: 100,
  cacheWrite: 1250,
  cacheWrite1h: 2000,
  inputAudio: 7000,
  outputAudio: 9000,
  reasoning: undefined,
};
const rates: Rates = {
  layer: 'catalogue',
  requestNanoUsd: 0,
  tiers: [
    { aboveInputTokens: -1, ...base },
    { aboveInputTokens: 1000, ...base, input: 2000, output: 8000 },
  ],
};

describe('costOf', () => {
  it('charges each kind of input once, at its own rate', () => {
    const usage = counts({
      inputTokens: 500,
      cacheReadTokens: 100,
      cacheWriteTokens: 90,
      cacheWrite1hTokens: 40,
      inputAudioTokens: 10,
    });
    const plain = (500 - 100 - 90 - 10) * 1000;
    expect(costOf(rates, usage).inputNanoUsd).toBe(
      plain + 100 * 100 + 50 * 1250 + 40 * 2000 + 10 * 7000,
    );
  });

  it('moves the whole request to a tier above its threshold, and not at it', () => {
    expect(costOf(rates, counts({ inputTokens: 1000, outputTokens: 1 })).totalNanoUsd).toBe(
      1_004_000,
    );
    expect(costOf(rates, counts({ inputTokens: 1001, outputTokens: 1 })).totalNanoUsd).toBe(
      2_002_000 + 8000,
    );
  });

  it('never charges a negative amount when the parts exceed the whole', () => {
    const usage = counts({
      inputTokens: 10,
      cacheReadTokens: 500,
      outputTokens: 1,
      outputAudioTokens: 3,
      cacheWriteTokens: -5,
    });
    expect(costOf(rates, usage)).toEqual({
      inputNanoUsd: 50_000,
      outputNanoUsd: 27_000,
      totalNanoUsd: 77_000,
    });
  });

  it('counts reasoning within the output unless it has a price of its own', () => {
    const usage = counts({ outputTokens: 100, reasoningTokens: 60 });
    expect(costOf(rates, usage).outputNanoUsd).toBe(400_000);
    const apart: Rates = { ...rates, tiers: [{ ...rates.tiers[0]!, reasoning: 3000 }] };
    expect(costOf(apart, usage).outputNanoUsd).toBe(40 * 4000 + 60 * 3000);
  });

  it('gives safe integers, and a total that is the sum of its parts', () => {
    const odd: Rates = {
      layer: 'custom',
      requestNanoUsd: 7,
      tiers: [{ aboveInputTokens: -1, ...base, input: 0.4, output: 0.7 }],
    };
    const cost = costOf(odd, counts({ inputTokens: 3, outputTokens: 3 }));
    expect(cost).toEqual({ inputNanoUsd: 1, outputNanoUsd: 2, totalNanoUsd: 10 });
    const absurd = costOf(
      rates,
      counts({ inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1e300 }),
    );
    for (const value of Object.values(absurd)) expect(Number.isSafeInteger(value)).toBe(true);
  });
});

function counts(some: Partial<TokenCounts>): TokenCounts {
  return {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
    ...some,
  };
}
