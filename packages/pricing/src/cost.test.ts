import type { ChatUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { costOf, unpricedTools } from './cost.ts';
import type { Rates, RatesTier, TokenRates } from './rates.ts';
import { isInputKind, type TokenKind, tokenKinds } from './token-prices.ts';

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
    // What is sound is no picture.
    const seen: Rates = { ...rates, tiers: [{ ...rates.tiers[0]!, cacheReadImage: 50 }] };
    const both = { ...usage, cacheReadAudioTokens: 500, cacheReadImageTokens: 9000 };
    expect(costOf(seen, both).inputNanoUsd).toBe(100 * 1000 + 500 * 700 + 100 * 50 + 300 * 7000);
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

  it('charges each token once, at the rate of its kind', () => {
    // Counts below 16 at powers of 16: each is a digit of the cost of its side.
    const digits = { input: '', output: '' };
    const [count, tier] = [{}, { aboveInputTokens: -1 }] as [TokenRates, RatesTier];
    for (const [at, kind] of tokenKinds.entries()) {
      const side = isInputKind(kind) ? 'input' : 'output';
      Object.assign(count, { [kind]: at + 1 });
      Object.assign(tier, { [kind]: 16 ** digits[side].length });
      digits[side] = (at + 1).toString(16) + digits[side];
    }
    const of = (...kinds: readonly TokenKind[]) =>
      kinds.reduce((sum, kind) => sum + (count[kind] ?? 0), 0);
    const cost = costOf(
      { ...rates, tiers: [tier] },
      {
        inputTokens: of(...tokenKinds.filter(isInputKind)),
        cacheReadTokens: of('cacheRead', 'cacheReadAudio', 'cacheReadImage'),
        cacheWriteTokens: of('cacheWrite', 'cacheWrite1h'),
        cacheWrite1hTokens: of('cacheWrite1h'),
        cacheReadAudioTokens: of('cacheReadAudio'),
        cacheReadImageTokens: of('cacheReadImage'),
        inputAudioTokens: of('inputAudio', 'cacheReadAudio'),
        inputImageTokens: of('inputImage', 'cacheReadImage'),
        inputVideoTokens: of('inputVideo'),
        outputTokens: of('output', 'outputAudio', 'outputImage', 'outputVideo', 'reasoning'),
        outputAudioTokens: of('outputAudio'),
        outputImageTokens: of('outputImage'),
        outputVideoTokens: of('outputVideo'),
        reasoningTokens: of('reasoning'),
        citationTokens: of('citation'),
      },
    );
    expect(cost.inputNanoUsd.toString(16)).toBe(digits.input);
    expect(cost.outputNanoUsd.toString(16)).toBe(digits.output);
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
    const images = { cacheReadImage: 50, inputImage: 3000, inputVideo: 4000, outputImage: 5000 };
    const seen: Rates = { ...rates, tiers: [{ ...rates.tiers[0]!, ...images }] };
    for (const list of [rates, free, seen])
      for (const input of odd)
        for (const output of odd)
          for (const part of odd) {
            const cost = costOf(list, {
              ...counts({ inputTokens: input, outputTokens: output }),
              cacheReadTokens: part,
              cacheReadAudioTokens: part,
              cacheReadImageTokens: part,
              inputAudioTokens: part,
              inputImageTokens: part,
              inputVideoTokens: part,
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

describe('unpricedTools', () => {
  const used = {
    ...{ webSearches: 1, fileSearches: 1, xSearches: 1, mapSearches: 1, codeExecutions: 1 },
    ...{ imageGenerations: 1, characters: 1 },
  };
  const all = ['web_search', 'file_search', 'x_search', 'maps', 'code_execution'];

  it('names each tool that was used and has no price', () => {
    expect(unpricedTools(rates, used)).toEqual([...all, 'image_generation']);
    expect(unpricedTools({ ...rates, units: { mapSearches: 0 } }, used)).not.toContain('maps');
    expect(unpricedTools(rates, { ...used, xSearches: 0 })).not.toContain('x_search');
  });

  it('leaves searches to the fee of the request, where there is one', () => {
    const byContext = { ...rates, searchContexts: { low: 5 } };
    expect(unpricedTools(byContext, { ...used, searchContext: 'low' })).toEqual([
      ...all.slice(1),
      'image_generation',
    ]);
    expect(unpricedTools(byContext, used)).toContain('web_search');
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
