import { clean, type ImagePrices, type ListedPrices, type VideoPrices } from './listed-model.ts';
import type { Multipliers } from './multipliers.ts';
import { videoUnit, videoUnitOf } from './price-keys.ts';
import type { TokenKind, TokenPrices } from './token-prices.ts';
import type { CountedUnit, UnitRates } from './unit-counts.ts';

/** Who says what a model costs: administrators, the operator's files, or the catalogue with its corrections. */
export type PriceLayer = 'custom' | ListLayer;

/** Of prices that hold for everybody. */
export type ListLayer = 'file' | 'catalogue';

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
  readonly cacheReadAudio: number;
  /** From here on: undefined = charged like the rest of the input or the output. */
  readonly cacheReadImage: number | undefined;
  readonly inputImage: number | undefined;
  readonly inputVideo: number | undefined;
  readonly outputImage: number | undefined;
  readonly outputVideo: number | undefined;
  readonly reasoning: number | undefined;
  readonly citation: number | undefined;
}

export interface RatesTier extends TokenRates {
  /** The whole request moves to this tier when its input, caches included, is larger. */
  readonly aboveInputTokens: number;
}

/** What one model costs, for one service tier in one place, multipliers included. */
export interface Rates {
  readonly layer: PriceLayer;
  /** Names the state of the prices that these came from. */
  readonly version: string;
  readonly requestNanoUsd: number;
  /** In its place, by how much of the web was read for the reply. */
  readonly searchContexts: Readonly<Record<string, number>> | undefined;
  /** Smallest threshold first; the first one's threshold is -1. Empty when tokens have no price. */
  readonly tiers: readonly RatesTier[];
  /** Undefined when nothing has a price by its number. */
  readonly units: UnitRates | undefined;
  readonly images: ImagePrices | undefined;
  readonly videos?: VideoPrices | undefined;
  /** Sound that is shorter is charged as so many seconds. */
  readonly leastAudioSeconds?: number | undefined;
}

/** Of a list to rates: every kind of token gets a price, its own or that of the whole it is part of. */
export interface RatesOptions {
  layer: PriceLayer;
  version: string;
  isClaude: boolean;
  multipliers: Multipliers | undefined;
}

/** Undefined when nothing has a price. */
export function ratesOf(prices: ListedPrices, options: RatesOptions): Rates | undefined {
  const { layer, version, multipliers } = options;
  const hasTokens = prices.tokens.input !== undefined || prices.tokens.output !== undefined;
  const units = unitRates(prices.units, multipliers);
  const images = imageRates(prices.images, multipliers);
  const requestNanoUsd = clean((prices.requestNanoUsd ?? 0) * (multipliers?.unit('request') ?? 1));
  const searchContexts = prices.searchContexts;
  if (
    !hasTokens &&
    units === undefined &&
    images === undefined &&
    prices.videos === undefined &&
    prices.requestNanoUsd === undefined
  )
    return undefined;
  const tiers = [
    { aboveInputTokens: -1, tokens: prices.tokens },
    // A list may leave out of a tier what it does not change.
    ...prices.contextTiers.map((tier) => ({
      ...tier,
      tokens: { ...prices.tokens, ...tier.tokens },
    })),
  ];
  return {
    layer,
    version,
    requestNanoUsd,
    searchContexts:
      searchContexts === undefined || multipliers === undefined
        ? searchContexts
        : mapped(
            searchContexts,
            (price, size) => price * multipliers.unit(`web_search_${size}_context`),
          ),
    tiers: hasTokens
      ? tiers.map(({ aboveInputTokens, tokens }) => ({
          aboveInputTokens,
          ...tokenRates(tokens, options),
        }))
      : [],
    units,
    images,
    leastAudioSeconds: prices.leastAudioSeconds,
    videos:
      prices.videos === undefined || multipliers === undefined
        ? prices.videos
        : mapped(
            prices.videos,
            (price, size) =>
              price * multipliers.unit(size === 'default' ? videoUnit : videoUnitOf(size)),
          ),
  };
}

function tokenRates(tokens: TokenPrices, { isClaude, multipliers }: RatesOptions): TokenRates {
  const input = tokens.input ?? 0;
  const output = tokens.output ?? 0;
  const cacheWrite = tokens.cacheWrite ?? input;
  const inputAudio = tokens.inputAudio ?? input;
  const cacheRead = tokens.cacheRead ?? input;
  // What has neither a price nor a factor of its own is what it is part of, with the factor of that.
  const factorOf = (kind: TokenKind): number => {
    const whole = wholes[kind];
    const isItself = whole === undefined || tokens[kind] !== undefined;
    return (
      multipliers?.ownOf(kind) ?? (isItself ? (multipliers?.token(kind) ?? 1) : factorOf(whole))
    );
  };
  const wholes: Readonly<Partial<Record<TokenKind, TokenKind>>> = {
    cacheRead: 'input',
    cacheWrite: 'input',
    cacheWrite1h: isClaude ? 'input' : 'cacheWrite',
    inputAudio: 'input',
    outputAudio: 'output',
    cacheReadAudio: tokens.cacheRead === undefined ? 'inputAudio' : 'cacheRead',
    cacheReadImage:
      tokens.cacheRead === undefined && tokens.inputImage !== undefined
        ? 'inputImage'
        : 'cacheRead',
  };
  const times = (kind: TokenKind, price: number): number =>
    multipliers === undefined ? price : clean(price * factorOf(kind));
  // A part without a price of its own is told apart all the same where it has a factor.
  const part = (kind: TokenKind, price: number) => {
    const own = tokens[kind];
    if (own !== undefined) return times(kind, own);
    return multipliers?.ownOf(kind) === undefined ? undefined : times(kind, price);
  };
  return {
    input: times('input', input),
    output: times('output', output),
    cacheRead: times('cacheRead', cacheRead),
    cacheWrite: times('cacheWrite', cacheWrite),
    // Anthropic charges twice the input price for an hour; some resellers' lists leave it out.
    cacheWrite1h: times(
      'cacheWrite1h',
      tokens.cacheWrite1h ?? (isClaude ? clean(2 * input) : cacheWrite),
    ),
    inputAudio: times('inputAudio', inputAudio),
    outputAudio: times('outputAudio', tokens.outputAudio ?? output),
    cacheReadAudio: times(
      'cacheReadAudio',
      tokens.cacheReadAudio ?? (tokens.cacheRead === undefined ? inputAudio : cacheRead),
    ),
    // Where nothing is cheaper from the cache, an image is charged as one.
    cacheReadImage:
      tokens.cacheRead === undefined && tokens.inputImage !== undefined
        ? times('cacheReadImage', tokens.cacheReadImage ?? tokens.inputImage)
        : part('cacheReadImage', cacheRead),
    inputImage: part('inputImage', input),
    inputVideo: part('inputVideo', input),
    outputImage: part('outputImage', output),
    outputVideo: part('outputVideo', output),
    reasoning: part('reasoning', output),
    citation: tokens.citation === undefined ? undefined : times('citation', tokens.citation),
  };
}

function unitRates(units: UnitRates, multipliers: Multipliers | undefined): UnitRates | undefined {
  let isEmpty = true;
  for (const _ in units) isEmpty = false;
  if (isEmpty) return undefined;
  if (multipliers === undefined) return units;
  return mapped(
    units as Readonly<Record<string, number>>,
    (price, unit) => price * multipliers.counted(unit as CountedUnit),
  );
}

function imageRates(
  images: ImagePrices | undefined,
  multipliers: Multipliers | undefined,
): ImagePrices | undefined {
  if (images === undefined || multipliers === undefined) return images;
  return Object.fromEntries(
    Object.entries(images).map(([quality, sizes]) => [
      quality,
      mapped(sizes, (price) => price * multipliers.image),
    ]),
  );
}

function mapped(
  prices: Readonly<Record<string, number>>,
  change: (price: number, name: string) => number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [name, clean(change(price, name))]),
  );
}
