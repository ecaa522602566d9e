import { noUsage, type ReplyBill } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { GeminiTap } from '../codecs/gemini/tap.ts';
import { NativeStreamReader } from '../translation/native-stream.ts';
import { addBill } from './add-bill.ts';
import { laterUsage } from './later-usage.ts';

const former = {
  ...noUsage,
  inputTokens: 1000,
  cacheReadTokens: 800,
  inputImageTokens: 40,
  outputTokens: 500,
  reasoningTokens: 300,
  citationTokens: 7,
};

describe('what a stream tells of its usage later', () => {
  it('holds, whether it is more or less', () => {
    const told = { ...noUsage, inputTokens: 900, outputTokens: 510 };
    expect(laterUsage(undefined, noUsage)).toBe(noUsage);
    expect(laterUsage(noUsage, told)).toBe(told);
    expect(laterUsage(former, told)).toBe(told);
  });

  it('takes back nothing of a side by a zero, nor of what that was made of', () => {
    expect(laterUsage(former, noUsage)).toEqual(former);
    expect(laterUsage(former, { ...noUsage, outputTokens: 600 })).toEqual({
      ...noUsage,
      inputTokens: 1000,
      cacheReadTokens: 800,
      inputImageTokens: 40,
      outputTokens: 600,
    });
    expect(laterUsage(former, { ...noUsage, inputTokens: 1100 })).toEqual({
      ...noUsage,
      inputTokens: 1100,
      outputTokens: 500,
      reasoningTokens: 300,
      citationTokens: 7,
    });
  });

  it('is the same in a stream that passes untouched', () => {
    const reader = new NativeStreamReader(new GeminiTap());
    const tell = (promptTokenCount: number, candidatesTokenCount: number) => {
      const candidates = [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }];
      const usageMetadata = { promptTokenCount, candidatesTokenCount };
      reader.push(Buffer.from(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`));
    };
    tell(1000, 500);
    tell(0, 0);
    expect(reader.facts.usage).toMatchObject({ inputTokens: 1000, outputTokens: 500 });
  });
});

it('counts of what else is charged grow, and the last word holds of the rest', () => {
  const facts: ReplyBill = {};
  for (const later of [
    { units: { webSearches: 1, fileSearches: 2 }, servedTier: 'flex' },
    { units: { webSearches: 3 } },
    {},
    { units: { webSearches: 2, searchContext: 'low' }, servedTier: 'standard' },
    { units: { searchContext: 'high' } },
  ] satisfies ReplyBill[])
    addBill(facts, later);
  expect(facts).toEqual({
    units: { webSearches: 3, fileSearches: 2, searchContext: 'high' },
    servedTier: 'standard',
  });
});
