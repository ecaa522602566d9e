import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';
import { type ContextTier, clean, type ListedPrices } from './listed-model.ts';
import type { TokenKind, TokenPrices } from './token-prices.ts';
import type { CountedUnit } from './unit-counts.ts';

/** The catalogue that is installed. */
export const catalogueVersion = 'genai-prices@0.1.8';
/** When it was published. What a list says since then it does not know. */
export const catalogueDay = '2026-09-23';

/** The catalogue's prices of a model at `atMs`, or undefined when it has none. */
export function cataloguePrices(
  catalogueId: string,
  model: string,
  atMs: number,
): ListedPrices | undefined {
  // Without usage nothing is computed: the call is the library's only way to ask for a price list.
  const found = calcPrice({}, model, { providerId: catalogueId, timestamp: new Date(atMs) });
  // The library also matches providers loosely; another provider's price is worse than none.
  return found?.provider.id === catalogueId ? readPrices(found.model_price) : undefined;
}

function readPrices(price: ModelPrice): ListedPrices {
  const { requests_kcount: requests } = price;
  return {
    tokens: tokensAt(price, -1),
    units: unitsOf(price),
    ...(typeof requests === 'number' ? { requestNanoUsd: clean(requests * 1e6) } : {}),
    contextTiers: thresholdsOf(price).map(
      (aboveInputTokens): ContextTier => ({
        aboveInputTokens,
        tokens: tokensAt(price, aboveInputTokens),
      }),
    ),
  };
}

/** The catalogue lists dollars per million: times 1,000 they are nano-dollars per token. */
const tokenKeys: Readonly<Record<TokenKind, string>> = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  cacheReadAudio: 'cache_audio_read_mtok',
  cacheReadImage: 'cache_image_read_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  inputVideo: 'input_video_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
  outputVideo: 'output_video_mtok',
  reasoning: 'output_reasoning_mtok',
  citation: 'output_citation_mtok',
};

/** The catalogue's key, and how many nano-dollars a unit costs for each dollar listed. */
const unitKeys: readonly (readonly [CountedUnit, string, number])[] = [
  ['searchUnits', 'rerank_searches_kcount', 1e6],
  ['pages', 'input_document_kpages', 1e6],
  ['annotatedPages', 'input_annotated_document_kpages', 1e6],
  // Of all sound, and of sound that goes in: the more exact one wins.
  ['audioSeconds', 'audio_hours', 1e9 / 3600],
  ['audioSeconds', 'input_audio_hours', 1e9 / 3600],
  ['characters', 'input_mchars', 1e3],
  ['webSearches', 'web_searches_kcount', 1e6],
  ['fileSearches', 'storage_searches_kcount', 1e6],
  ['xSearches', 'social_searches_kcount', 1e6],
  ['codeExecutions', 'code_executions_kcount', 1e6],
];

function unitsOf(price: ModelPrice): Partial<Record<CountedUnit, number>> {
  const units: Partial<Record<CountedUnit, number>> = {};
  for (const [unit, key, nanoUsd] of unitKeys) {
    const value = price[key];
    // A price that depends on how much there is of it is not one of these.
    if (typeof value === 'number') units[unit] = clean(value * nanoUsd);
  }
  return units;
}

function thresholdsOf(price: ModelPrice): number[] {
  const starts = new Set<number>();
  for (const value of Object.values(price))
    if (typeof value === 'object') for (const tier of value.tiers) starts.add(tier.start);
  return [...starts].sort((a, b) => a - b);
}

function tokensAt(price: ModelPrice, aboveInputTokens: number): TokenPrices {
  const tokens: Partial<Record<TokenKind, number>> = {};
  for (const kind in tokenKeys) {
    const value = price[tokenKeys[kind as TokenKind]];
    if (value === undefined) continue;
    tokens[kind as TokenKind] = clean(dollarsAt(value, aboveInputTokens) * 1000);
  }
  return tokens;
}

function dollarsAt(value: NonNullable<ModelPrice[string]>, aboveInputTokens: number): number {
  if (typeof value === 'number') return value;
  let dollars = value.base;
  let reached = -1;
  // The data need not be sorted.
  for (const tier of value.tiers)
    if (tier.start <= aboveInputTokens && tier.start > reached) {
      dollars = tier.price;
      reached = tier.start;
    }
  return dollars;
}
