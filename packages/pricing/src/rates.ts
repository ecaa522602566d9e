import type { ModelPrice } from '@pydantic/genai-prices';
import { catalogueEntry } from './catalogue.ts';
import { candidateNames } from './model-names.ts';
import { catalogueIdOf } from './provider-ids.ts';
import { type UnitRates, unitRates } from './unit-rates.ts';

export type PriceLayer = 'custom' | 'catalogue';

export interface PriceQuery {
  /** Catalogue id of the provider, e.g. `openai`, `bedrock`. */
  provider: string;
  model: string;
  /** The day decides which of a model's price lists applies. */
  atMs: number;
  /** Prices an administrator entered for this model: US cents per token, as decimal strings. */
  custom?: { requestTokenCents?: string; responseTokenCents?: string };
}

/** Nano-dollars per token; fractional, since a token may cost less than a nano-dollar. */
export interface TokenRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Written with the default, short lifetime. */
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly inputAudio: number;
  readonly outputAudio: number;
  /** Undefined when images in the input are charged like the rest of it. */
  readonly inputImage?: number | undefined;
  /** Undefined when reasoning is part of the output at the output's rate. */
  readonly reasoning: number | undefined;
}

export interface RatesTier extends TokenRates {
  /** The whole request moves to this tier when its input, caches included, is larger. */
  readonly aboveInputTokens: number;
}

export interface Rates {
  readonly layer: PriceLayer;
  readonly requestNanoUsd: number;
  /** Smallest threshold first; the first one's threshold is -1. Empty when tokens have no price. */
  readonly tiers: readonly RatesTier[];
  /** Absent when nothing but tokens has a price. */
  readonly units?: UnitRates | undefined;
}

/**
 * The rates of a model, or undefined when nobody listed a price per token or
 * unit: an unknown cost, not a free one. Takes up to a millisecond; callers keep the
 * answer, also the undefined one, for minutes (not longer: some prices depend
 * on the time of day).
 */
export function lookUpRates(query: PriceQuery): Rates | undefined {
  const listed = listedRates(query);
  const input = nanoUsdOfCents(query.custom?.requestTokenCents);
  const output = nanoUsdOfCents(query.custom?.responseTokenCents);
  if (input === undefined && output === undefined) return listed;
  return customRates(input, output, listed);
}

function listedRates(query: PriceQuery): Rates | undefined {
  const catalogueId = catalogueIdOf(query.provider, query.model);
  if (catalogueId === undefined) return undefined;
  for (const name of candidateNames(query.provider, query.model)) {
    const price = catalogueEntry(catalogueId, name, query.atMs);
    if (price !== undefined) return ratesOf(price, catalogueId, query.model);
  }
  return undefined;
}

/** A custom input price covers every kind of input; a side without one keeps the listed rates, else costs nothing. */
function customRates(
  input: number | undefined,
  output: number | undefined,
  listed: Rates | undefined,
): Rates {
  const inputs = input === undefined ? {} : everyInputAt(input);
  const tiers = (listed?.tiers[0] === undefined ? [free] : listed.tiers).map((tier) => ({
    ...tier,
    ...inputs,
    ...(output === undefined ? {} : { output, outputAudio: output, reasoning: undefined }),
  }));
  return { layer: 'custom', requestNanoUsd: 0, tiers, units: listed?.units };
}

function everyInputAt(input: number): Partial<TokenRates> {
  return {
    input,
    cacheRead: input,
    cacheWrite: input,
    cacheWrite1h: input,
    inputAudio: input,
    inputImage: undefined,
  };
}

const free: RatesTier = {
  aboveInputTokens: -1,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  outputAudio: 0,
  reasoning: undefined,
};

/** Undefined for what is not a price, so that a slip never becomes a free or negative request. */
function nanoUsdOfCents(cents: string | undefined): number | undefined {
  if (cents === undefined || cents.trim() === '') return undefined;
  const value = Number(cents);
  // 1 cent = 10^7 nano-dollars; twelve digits remove what binary fractions add.
  return Number.isFinite(value) && value >= 0 ? clean(value * 1e7) : undefined;
}

function ratesOf(price: ModelPrice, catalogueId: string, model: string): Rates | undefined {
  // Priced by the minute or the page only: token counts cannot tell the cost.
  const hasTokenPrice = price.input_mtok !== undefined || price.output_mtok !== undefined;
  const units = unitRates(price);
  if (!hasTokenPrice && units === undefined) return undefined;
  const isClaude = catalogueId === 'anthropic' || /claude/i.test(model);
  const perRequest = price.requests_kcount;
  return {
    layer: 'catalogue',
    requestNanoUsd: typeof perRequest === 'number' ? Math.round(perRequest * 1e6) : 0,
    tiers: (hasTokenPrice ? thresholdsOf(price) : []).map((aboveInputTokens) => ({
      aboveInputTokens,
      ...tokenRates(price, aboveInputTokens, isClaude),
    })),
    ...(units === undefined ? {} : { units }),
  };
}

function thresholdsOf(price: ModelPrice): number[] {
  const starts = new Set([-1]);
  for (const value of Object.values(price))
    if (typeof value === 'object') for (const tier of value.tiers) starts.add(tier.start);
  return [...starts].sort((a, b) => a - b);
}

function tokenRates(price: ModelPrice, aboveInputTokens: number, isClaude: boolean): TokenRates {
  const rate = (key: string): number | undefined => {
    const value = price[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number') return clean(value * 1000);
    let dollars = value.base;
    let reached = -1;
    // The data need not be sorted.
    for (const tier of value.tiers)
      if (tier.start <= aboveInputTokens && tier.start > reached) {
        dollars = tier.price;
        reached = tier.start;
      }
    return clean(dollars * 1000);
  };
  const input = rate('input_mtok') ?? 0;
  const output = rate('output_mtok') ?? 0;
  const cacheWrite = rate('cache_write_mtok') ?? input;
  return {
    input,
    output,
    cacheRead: rate('cache_read_mtok') ?? input,
    cacheWrite,
    // Anthropic charges twice the input price for an hour; some resellers' lists leave it out.
    cacheWrite1h: rate('cache_write_1h_mtok') ?? (isClaude ? clean(2 * input) : cacheWrite),
    inputAudio: rate('input_audio_mtok') ?? input,
    outputAudio: rate('output_audio_mtok') ?? output,
    inputImage: rate('input_image_mtok'),
    reasoning: rate('output_reasoning_mtok'),
  };
}

/** Dollars per million times 1,000 = nano-dollars per token. Removes the noise of binary fractions. */
function clean(value: number): number {
  return Number(value.toPrecision(12));
}
