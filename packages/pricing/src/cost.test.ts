import type { ChatUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { costOf } from './cost.ts';
import type { Rates, TokenRates } from './rates.ts';

const base: TokenRates = {
  input: 1000,
  output: 4000,
  cacheRead: 100,
  cacheWrite: 1250,
  cacheWrite1h: 2000,
  inputAudio: 7000,
  outputAudio: 9000,
  cacheReadAudio: 700,
  cacheReadImage: undefined,
  inputImage: undefined,
  inputVideo: undefined,
  outputImage: undefined,
  outputVideo: undefined,
  reasoning: undefined,
  citation: undefined,
};
const untouched = {
  version: 'test@1',
  requestNanoUsd: 0,
  searchContexts: undefined,
  units: undefined,
  images: undefined,
} as const;
const rates: Rates = {
  ...untouched,
  layer: 'catalogue',
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

  it('charges sound from the cache once, at its own rate', () => {
    const usage = counts({
      inputTokens: 1000,
      inputAudioTokens: 800,
      cacheReadTokens: 600,
      outputTokens: 0,
    });
    expect(costOf(rates, { ...usage, cacheReadAudioTokens: 500 }).inputNanoUsd).toBe(
      100 * 1000 + 100 * 100 + 500 * 700 + 300 * 7000,
    );
    // No more of it than of either whole.
    expect(costOf(rates, { ...usage, cacheReadAudioTokens: 9000 }).inputNanoUsd).toBe(
      200 * 1000 + 600 * 700 + 200 * 7000,
    );
  });

  it('charges no more images than there are tokens', () => {
    const told: Rates = {
      ...rates,
      tiers: [{ ...rates.tiers[0]!, inputImage: 3000, outputImage: 5000, outputVideo: 6000 }],
    };
    const usage = counts({ inputTokens: 10, outputTokens: 20 });
    expect(costOf(told, { ...usage, inputImageTokens: 4, outputImageTokens: 5 })).toMatchObject({
      inputNanoUsd: 6 * 1000 + 4 * 3000,
      outputNanoUsd: 15 * 4000 + 5 * 5000,
    });
    expect(
      costOf(told, { ...usage, inputImageTokens: 1e15, outputImageTokens: 1e15 }),
    ).toMatchObject({
      inputNanoUsd: 10 * 3000,
      outputNanoUsd: 20 * 5000,
    });
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
      ...untouched,
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
    expect(absurd).toEqual({
      totalNanoUsd: Number.MAX_SAFE_INTEGER,
      inputNanoUsd: Number.MAX_SAFE_INTEGER,
      outputNanoUsd: Number.MAX_SAFE_INTEGER,
      isCut: true,
    });
  });

  it('says so when it cuts a cost, and never gives one that is no amount', () => {
    const odd = [
      Number.NaN,
      -1,
      -0,
      1e308,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      0.5,
    ];
    const free: Rates = { ...rates, tiers: [{ ...rates.tiers[0]!, input: 0, output: 0 }] };
    for (const list of [rates, free])
      for (const input of odd)
        for (const output of odd)
          for (const part of odd) {
            const cost = costOf(list, {
              ...counts({ inputTokens: input, outputTokens: output }),
              cacheReadTokens: part,
              cacheReadAudioTokens: part,
              inputAudioTokens: part,
              reasoningTokens: part,
              outputImageTokens: part,
            });
            for (const amount of [cost.totalNanoUsd, cost.inputNanoUsd, cost.outputNanoUsd]) {
              expect(Number.isSafeInteger(amount)).toBe(true);
              expect(amount).toBeGreaterThanOrEqual(0);
            }
            const isCut = cost.totalNanoUsd === Number.MAX_SAFE_INTEGER;
            expect(cost.isCut ?? false).toBe(isCut);
          }
  });
});

function counts(some: Partial<ChatUsage>): ChatUsage {
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
