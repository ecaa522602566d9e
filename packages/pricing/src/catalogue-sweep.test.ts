import { calcPrice, findProvider, type ModelPrice, type Usage } from '@pydantic/genai-prices';
import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import { noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { catalogueDay } from './catalogue.ts';
import { costOfReply } from './cost.ts';
import { PriceBook } from './price-book.ts';
import { catalogueIds } from './provider-ids.ts';

/** What changed since then is not in it. */
const atMs = Date.parse(`${catalogueDay}T12:00Z`);

interface Shape {
  tokens?: Partial<ChatUsage>;
  units?: ReplyUnits;
  /** The same in the catalogue's words. */
  theirs: Usage;
}

/** What a reply may be made of, in our words and in the catalogue's. */
const shapes: Readonly<Record<string, Shape>> = {
  plain: {
    tokens: { inputTokens: 1234, outputTokens: 567 },
    theirs: { input_tokens: 1234, output_tokens: 567 },
  },
  'read from the cache': {
    tokens: { inputTokens: 12_345, cacheReadTokens: 10_000, outputTokens: 77 },
    theirs: { input_tokens: 12_345, cache_read_tokens: 10_000, output_tokens: 77 },
  },
  'written for five minutes': {
    tokens: { inputTokens: 9000, cacheReadTokens: 500, cacheWriteTokens: 8000, outputTokens: 20 },
    theirs: {
      input_tokens: 9000,
      cache_read_tokens: 500,
      cache_write_tokens: 8000,
      output_tokens: 20,
    },
  },
  'written for an hour': {
    tokens: {
      inputTokens: 9000,
      cacheWriteTokens: 8000,
      cacheWrite1hTokens: 5000,
      outputTokens: 20,
    },
    theirs: {
      input_tokens: 9000,
      cache_write_tokens: 8000,
      cache_write_1h_tokens: 5000,
      output_tokens: 20,
    },
  },
  'a long context': {
    tokens: { inputTokens: 300_000, cacheReadTokens: 50_000, outputTokens: 3000 },
    theirs: { input_tokens: 300_000, cache_read_tokens: 50_000, output_tokens: 3000 },
  },
  'at the edge of a long context': {
    tokens: { inputTokens: 200_000, outputTokens: 10 },
    theirs: { input_tokens: 200_000, output_tokens: 10 },
  },
  sound: {
    tokens: { inputTokens: 900, inputAudioTokens: 800, outputTokens: 400, outputAudioTokens: 350 },
    theirs: {
      input_tokens: 900,
      input_audio_tokens: 800,
      output_tokens: 400,
      output_audio_tokens: 350,
    },
  },
  'sound from the cache': {
    tokens: {
      inputTokens: 2000,
      inputAudioTokens: 1500,
      cacheReadTokens: 1200,
      cacheReadAudioTokens: 1000,
      outputTokens: 40,
    },
    theirs: {
      input_tokens: 2000,
      input_audio_tokens: 1500,
      cache_read_tokens: 1200,
      cache_audio_read_tokens: 1000,
      output_tokens: 40,
    },
  },
  'images in and out': {
    tokens: {
      inputTokens: 1500,
      inputImageTokens: 1200,
      cacheReadTokens: 700,
      cacheReadImageTokens: 600,
      outputTokens: 1400,
      outputImageTokens: 1290,
    },
    theirs: {
      input_tokens: 1500,
      input_image_tokens: 1200,
      cache_read_tokens: 700,
      cache_image_read_tokens: 600,
      output_tokens: 1400,
      output_image_tokens: 1290,
    },
  },
  'thought and quoted': {
    tokens: {
      inputTokens: 100,
      outputTokens: 4000,
      reasoningTokens: 3500,
    },
    theirs: { input_tokens: 100, output_tokens: 4000, output_reasoning_tokens: 3500 },
  },
  searched: {
    tokens: { inputTokens: 500, outputTokens: 300 },
    units: { webSearches: 3, fileSearches: 2 },
    theirs: { input_tokens: 500, output_tokens: 300, web_searches: 3, storage_searches: 2 },
  },
  'heard and read by the page': {
    units: { audioSeconds: 93.5, pages: 7, annotatedPages: 2 },
    theirs: {
      audio_seconds: 93.5,
      input_audio_seconds: 93.5,
      input_document_pages: 7,
      input_annotated_document_pages: 2,
    },
  },
};

/** Where ours is not the catalogue's on purpose. */
const differences: readonly {
  why: string;
  shape: RegExp;
  providers: RegExp;
  lacks: keyof ModelPrice;
}[] = [
  {
    why: 'Anthropic charges twice the input for an hour; resellers’ and old rows leave it out',
    shape: /^written for an hour$/,
    providers:
      /^(?:anthropic|claude-(?:google-cloud|platform-aws)|bedrock|bedrock-mantle|google|vertex-ai|openrouter)\/.*claude/,
    lacks: 'cache_write_1h_mtok',
  },
  {
    why: 'searches that the vendor lists and the catalogue does not',
    shape: /^searched$/,
    providers:
      /^(?:x-ai\/grok|(?:google|vertex-ai)\/.*gemini-[23]|(?:anthropic|claude-(?:google-cloud|platform-aws))\/)/,
    lacks: 'web_searches_kcount',
  },
  {
    why: 'pictures that the vendor lists and the catalogue does not',
    shape: /^images in and out$/,
    providers: /^cohere\/embed-v4\.0$/,
    lacks: 'input_image_mtok',
  },
  {
    why: 'a fee for the request is unknown to us where nothing else was counted',
    shape: /^heard and read by the page$/,
    providers: /^perplexity-ai\//,
    lacks: 'audio_hours',
  },
];

describe('PriceBook', () => {
  it('prices every model of the catalogue as its own calculation does, in twelve shapes', () => {
    const book = new PriceBook();
    const wrong: string[] = [];
    let compared = 0;
    for (const [provider, catalogueId] of Object.entries(catalogueIds)) {
      for (const { id: model } of findProvider({ providerId: catalogueId })?.models ?? []) {
        const rates = book.lookUp({ provider, model, atMs });
        for (const [name, shape] of Object.entries(shapes)) {
          const listed = calculated(shape.theirs, model, catalogueId);
          if (listed === undefined) continue;
          const isMeant = differences.some(
            (difference) =>
              difference.shape.test(name) &&
              difference.providers.test(`${provider}/${model}`) &&
              listed.prices[difference.lacks] === undefined,
          );
          if (isMeant) continue;
          compared += 1;
          const ours =
            rates === undefined
              ? undefined
              : costOfReply(
                  rates,
                  shape.tokens === undefined ? undefined : { ...noUsage, ...shape.tokens },
                  shape.units,
                );
          // What is charged by what a shape does not have costs them nothing, and is unknown to us.
          const total = ours?.totalNanoUsd ?? 0;
          if (Math.abs(total - listed.nanoUsd) > 1)
            wrong.push(`${provider}/${model}: ${name}: ${total} instead of ${listed.nanoUsd}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(12_000);
  });
});

/** Undefined where the catalogue does not know the model by this name, or refuses to calculate the shape. */
function calculated(
  usage: Usage,
  model: string,
  providerId: string,
): { nanoUsd: number; prices: ModelPrice } | undefined {
  try {
    const price = calcPrice(usage, model, { providerId, timestamp: new Date(atMs) });
    if (price === null) return undefined;
    return { nanoUsd: Math.round(price.total_price * 1e9), prices: price.model_price };
  } catch {
    return undefined;
  }
}
