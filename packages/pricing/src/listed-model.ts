import { type TokenPrices, unsaidSides, withSides } from './token-prices.ts';
import type { UnitRates } from './unit-counts.ts';

/** Quality, then size, to nano-dollars an image; `default` stands for what is not listed. */
export type ImagePrices = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** By size, `1280x720`, nano-dollars a second; `default` stands for what is not listed. */
export type VideoPrices = Readonly<Record<string, number>>;

/** What a list says of a model in one place and at one speed. */
export interface PriceSet {
  readonly tokens: TokenPrices;
  readonly units: UnitRates;
  readonly images?: ImagePrices | undefined;
  readonly videos?: VideoPrices | undefined;
  /** Sound that is shorter is charged as so many seconds. */
  readonly leastAudioSeconds?: number | undefined;
  /** For the request as such. */
  readonly requestNanoUsd?: number | undefined;
  /** For the request as such, by how much of the web is read for it. */
  readonly searchContexts?: Readonly<Record<string, number>> | undefined;
}

export interface ContextTier {
  /** The whole request moves here when its input, caches included, is larger. */
  readonly aboveInputTokens: number;
  readonly tokens: TokenPrices;
}

export interface ListedPrices extends PriceSet {
  /** Smallest threshold first. */
  readonly contextTiers: readonly ContextTier[];
}

/** Prices of the places named, for each service tier that has prices of its own there. */
export interface ListedRegion {
  /** Empty = wherever no other applies. */
  readonly names: readonly string[];
  readonly modes: ReadonlyMap<string, ListedPrices>;
}

/** What input that comes from the vendor's cache costs in a batch, where it is not half as well. */
export type CachedInBatches = 'as without' | 'as other input';

/** All that a list says of a model. */
export interface ListedModel {
  readonly standard: ListedPrices;
  /** Exact prices of batches; what is absent there is half of the standard. */
  readonly batch?: TokenPrices | undefined;
  /** Absent = half of what it costs without a batch, too. */
  readonly cachedInBatches?: CachedInBatches | undefined;
  /** Factors on tokens by service tier, where a vendor's list is a multiple of the standard. */
  readonly tierFactors?: ReadonlyMap<string, number> | undefined;
  readonly regions: readonly ListedRegion[];
}

export const noPrices: ListedPrices = { tokens: {}, units: {}, contextTiers: [] };

/** A batch costs half where nobody lists anything else. */
const batchFactor = 0.5;

export interface ServedAs {
  /** The service tier that served, as `standard`, `batch`, `flex`, `priority`, `fast` … */
  readonly tier: string;
  readonly region: string;
}

/**
 * The prices of one model for one tier in one place: those listed for just that;
 * what they leave out costs what it does without them: by the factor of the tier,
 * else as the standard of the place, else as the standard.
 */
export function pricesFor(model: ListedModel, { tier, region }: ServedAs): ListedPrices {
  const modes = (
    model.regions.find(({ names }) => names.includes(region)) ??
    model.regions.find(({ names }) => names.length === 0)
  )?.modes;
  const inPlace = modes?.get('standard');
  const standard = inPlace === undefined ? model.standard : withRest(inPlace, model.standard);
  if (tier === 'standard') return standard;
  const byRule = ruledPrices(model, standard, tier);
  const exact = modes?.get(tier);
  return exact === undefined ? byRule : withRest(exact, byRule);
}

/** What a tier costs where nobody lists its prices in that place. */
function ruledPrices(model: ListedModel, standard: ListedPrices, tier: string): ListedPrices {
  if (tier === 'batch') return ofBatch(standard, model);
  const factor = model.tierFactors?.get(tier);
  return factor === undefined ? standard : multiplied(standard, factor);
}

/** Tiers that have prices of their own in one place, the standard aside; the empty place stands for all others. */
export function tiersOf({ batch, regions, tierFactors }: ListedModel, region: string): string[] {
  const modes = (
    regions.find(({ names }) => names.includes(region)) ??
    regions.find(({ names }) => names.length === 0)
  )?.modes;
  const tiers = new Set([...(modes?.keys() ?? []), ...(tierFactors?.keys() ?? [])]);
  if (batch !== undefined) tiers.add('batch');
  tiers.delete('standard');
  return [...tiers].sort();
}

/** What is listed in one place, and for what is not listed there the rest. */
export function withRest(prices: ListedPrices, rest: ListedPrices): ListedPrices {
  return {
    ...prices,
    tokens: withSides(prices.tokens, rest.tokens),
    contextTiers: prices.contextTiers.length > 0 ? prices.contextTiers : unsaidTiers(prices, rest),
    units: { ...rest.units, ...prices.units },
    images: withRestOfImages(prices.images, rest.images),
    videos: withRestOfSizes(prices.videos, rest.videos),
    leastAudioSeconds: prices.leastAudioSeconds ?? rest.leastAudioSeconds,
    requestNanoUsd: prices.requestNanoUsd ?? rest.requestNanoUsd,
    searchContexts: prices.searchContexts ?? rest.searchContexts,
  };
}

/** A `default` stands for all that is not listed beside it, whatever another list says of that. */
export function withRestOfImages(
  images: ImagePrices | undefined,
  rest: ImagePrices | undefined,
): ImagePrices | undefined {
  if (images === undefined || rest === undefined) return images ?? rest;
  if (images.default !== undefined) return images;
  const qualities = Object.entries(images).map(([quality, sizes]) => [
    quality,
    withRestOfSizes(sizes, Object.hasOwn(rest, quality) ? rest[quality] : rest.default),
  ]);
  return { ...rest, ...Object.fromEntries(qualities) };
}

/** The same of sizes. */
export function withRestOfSizes(
  sizes: VideoPrices | undefined,
  rest: VideoPrices | undefined,
): VideoPrices | undefined {
  if (sizes === undefined || rest === undefined) return sizes ?? rest;
  return sizes.default === undefined ? { ...rest, ...sizes } : sizes;
}

/** Long contexts of the sides that prices leave out. */
function unsaidTiers({ tokens }: ListedPrices, { contextTiers }: ListedPrices): ContextTier[] {
  return contextTiers
    .map((tier) => ({ ...tier, tokens: unsaidSides(tokens, tier.tokens) }))
    .filter((tier) => Object.keys(tier.tokens).length > 0);
}

function ofBatch(
  standard: ListedPrices,
  { batch, cachedInBatches }: Pick<ListedModel, 'batch' | 'cachedInBatches'>,
): ListedPrices {
  const half = withCached(multiplied(standard, batchFactor), standard, cachedInBatches);
  if (batch === undefined) return half;
  return { ...half, tokens: { ...half.tokens, ...batch } };
}

function withCached(
  half: ListedPrices,
  standard: ListedPrices,
  rule: CachedInBatches | undefined,
): ListedPrices {
  if (rule === undefined) return half;
  return {
    ...half,
    tokens: cachedBy(rule, half.tokens, standard.tokens),
    contextTiers: half.contextTiers.map((tier, index) => ({
      ...tier,
      tokens: cachedBy(rule, tier.tokens, standard.contextTiers[index]?.tokens ?? {}),
    })),
  };
}

const cachedKinds = ['cacheRead', 'cacheReadAudio', 'cacheReadImage'] as const;

/** What has no price of its own is charged as the input that it is part of. */
function cachedBy(rule: CachedInBatches, half: TokenPrices, standard: TokenPrices): TokenPrices {
  const { cacheRead: _text, cacheReadAudio: _sound, cacheReadImage: _image, ...others } = half;
  if (rule === 'as other input') return others;
  const kept = cachedKinds.flatMap((kind) =>
    standard[kind] === undefined ? [] : [[kind, standard[kind]]],
  );
  return { ...others, ...Object.fromEntries(kept) };
}

/** Tokens and images; tools and fees have one price at every speed. */
export function multiplied(prices: ListedPrices, factor: number): ListedPrices {
  return {
    ...prices,
    tokens: mapped(prices.tokens, factor),
    ...(prices.images === undefined
      ? {}
      : {
          images: Object.fromEntries(
            Object.entries(prices.images).map(([quality, sizes]) => [
              quality,
              mapped(sizes, factor),
            ]),
          ),
        }),
    contextTiers: prices.contextTiers.map((tier) => ({
      ...tier,
      tokens: mapped(tier.tokens, factor),
    })),
  };
}

function mapped<T extends object>(prices: T, factor: number): T {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [name, clean(Number(price) * factor)]),
  ) as T;
}

/** Without the noise of binary fractions. */
export function clean(value: number): number {
  return Number(value.toPrecision(12));
}
