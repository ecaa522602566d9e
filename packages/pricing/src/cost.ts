import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import { unitKeys } from './price-keys.ts';
import type { Rates, RatesTier } from './rates.ts';
import { type CountedUnit, countedUnits, type UnitRates } from './unit-counts.ts';

/** Whole nano-dollars. The total is input + output + what is charged for the request as such. */
export interface Cost {
  totalNanoUsd: number;
  inputNanoUsd: number;
  outputNanoUsd: number;
  /** Counts so absurd that the cost would have left the range of exact integers: it is cut there. */
  isCut?: true;
}

/** Beyond it integers are not exact. */
const nanoUsdMax = Number.MAX_SAFE_INTEGER;

/**
 * What a whole reply costs: its tokens, where they have a price, images, and its
 * other units, which are all of the input. Undefined when nothing that was counted
 * has a price: an unknown cost, not a free one. Plain arithmetic, since it runs
 * once an attempt.
 */
export function costOfReply(
  rates: Rates,
  tokens: ChatUsage | undefined,
  units: ReplyUnits | undefined,
): Cost | undefined {
  const hasTokens = tokens !== undefined && rates.tiers.length > 0;
  const ofUnits = units === undefined ? undefined : unitsNanoUsd(rates, units);
  // Images that are told as tokens are paid for by them.
  const ofImages = hasTokens || units === undefined ? undefined : imagesNanoUsd(rates, units);
  const ofVideos = units === undefined ? undefined : videosNanoUsd(rates, units);
  if (!hasTokens && ofUnits === undefined && ofImages === undefined && ofVideos === undefined)
    return undefined;
  const request = requestNanoUsd(rates, units);
  if (!hasTokens) return costFrom((ofUnits ?? 0) + (ofImages ?? 0) + (ofVideos ?? 0), 0, request);
  const tier = tierFor(rates.tiers, tokens.inputTokens);
  return costFrom(
    inputTokensNanoUsd(tier, tokens) + (ofUnits ?? 0) + (ofVideos ?? 0),
    outputTokensNanoUsd(tier, tokens),
    request,
  );
}

/** Tools that providers run themselves, and charge beside the tokens of a reply. */
const toolUnits = [
  'webSearches',
  'previewSearches',
  'fileSearches',
  'xSearches',
  'attachmentSearches',
  'mapSearches',
  'codeExecutions',
  'imageGenerations',
] as const satisfies readonly CountedUnit[];

/** Of what was counted beside tokens the tools that have no price, by their names in price lists: the cost is without them. */
export function unpricedTools(rates: Rates, units: ReplyUnits | undefined): readonly string[] {
  if (units === undefined) return none;
  let unpriced: string[] | undefined;
  for (const unit of toolUnits) {
    if (positive(units[unit]) === 0 || rateOf(rates.units, unit) !== undefined) continue;
    // What is charged for the request as such is for its searches.
    if (unit === 'webSearches' && requestNanoUsd(rates, units) > 0) continue;
    const [name = unit] = unitKeys[unit];
    unpriced = [...(unpriced ?? []), name];
  }
  return unpriced ?? none;
}

const none: readonly string[] = [];

/** Of two calls together. */
export function sumOfCosts(one: Cost, other: Cost): Cost {
  return costFrom(
    one.inputNanoUsd + other.inputNanoUsd,
    one.outputNanoUsd + other.outputNanoUsd,
    requestPartOf(one) + requestPartOf(other),
  );
}

function requestPartOf({ totalNanoUsd, inputNanoUsd, outputNanoUsd }: Cost): number {
  return Math.max(0, totalNanoUsd - inputNanoUsd - outputNanoUsd);
}

/** What tokens alone cost. The rates must have a price for them. */
export function costOf(rates: Rates, tokens: ChatUsage): Cost {
  const tier = tierFor(rates.tiers, tokens.inputTokens);
  return costFrom(
    inputTokensNanoUsd(tier, tokens),
    outputTokensNanoUsd(tier, tokens),
    rates.requestNanoUsd,
  );
}

/** Parts that exceed their whole leave nothing of it. */
function inputTokensNanoUsd(tier: RatesTier, tokens: ChatUsage): number {
  const audio = positive(tokens.inputAudioTokens);
  const read = positive(tokens.cacheReadTokens);
  // Counted with the audio and with the cache: charged once.
  const readAudio = Math.min(positive(tokens.cacheReadAudioTokens), audio, read);
  const input = positive(tokens.inputTokens);
  const image = tier.inputImage === undefined ? 0 : atMost(input, tokens.inputImageTokens);
  const readImage =
    tier.cacheReadImage === undefined && tier.inputImage === undefined
      ? 0
      : Math.min(positive(tokens.cacheReadImageTokens), read - readAudio);
  // Of a model that does not tell images apart, none is taken out of them.
  const readOfImages = Math.min(readImage, image);
  const video = tier.inputVideo === undefined ? 0 : atMost(input, tokens.inputVideoTokens);
  const write1h = positive(tokens.cacheWrite1hTokens);
  const writeShort = positive(tokens.cacheWriteTokens - write1h);
  const text = positive(
    input - read - writeShort - write1h - (audio - readAudio) - (image - readOfImages) - video,
  );
  return (
    text * tier.input +
    (read - readAudio - readImage) * tier.cacheRead +
    readAudio * tier.cacheReadAudio +
    readImage * (tier.cacheReadImage ?? tier.cacheRead) +
    writeShort * tier.cacheWrite +
    write1h * tier.cacheWrite1h +
    (audio - readAudio) * tier.inputAudio +
    (image - readOfImages) * (tier.inputImage ?? 0) +
    video * (tier.inputVideo ?? 0)
  );
}

function outputTokensNanoUsd(tier: RatesTier, tokens: ChatUsage): number {
  const audio = positive(tokens.outputAudioTokens);
  const output = positive(tokens.outputTokens);
  const image = tier.outputImage === undefined ? 0 : atMost(output, tokens.outputImageTokens);
  const video = tier.outputVideo === undefined ? 0 : atMost(output, tokens.outputVideoTokens);
  const reasoning = tier.reasoning === undefined ? 0 : positive(tokens.reasoningTokens);
  const citation = tier.citation === undefined ? 0 : positive(tokens.citationTokens);
  const text = positive(output - audio - image - video - reasoning);
  return (
    text * tier.output +
    audio * tier.outputAudio +
    image * (tier.outputImage ?? 0) +
    video * (tier.outputVideo ?? 0) +
    reasoning * (tier.reasoning ?? 0) +
    citation * (tier.citation ?? 0)
  );
}

function tierFor(tiers: readonly RatesTier[], inputTokens: number): RatesTier {
  let chosen = tiers[0]!;
  for (let index = 1; index < tiers.length; index += 1) {
    const tier = tiers[index]!;
    if (inputTokens > tier.aboveInputTokens) chosen = tier;
  }
  return chosen;
}

/** Fractional. Undefined when none of what was counted has a price. */
function unitsNanoUsd(
  { units: rates, leastAudioSeconds = 0 }: Rates,
  counts: ReplyUnits,
): number | undefined {
  if (rates === undefined) return undefined;
  const annotated = rates.annotatedPages === undefined ? 0 : positive(counts.annotatedPages);
  let total: number | undefined;
  for (const unit of countedUnits) {
    const rate = rateOf(rates, unit);
    const count = unit === 'annotatedPages' ? annotated : counts[unit];
    if (rate === undefined || count === undefined) continue;
    let charged = positive(unit === 'pages' ? count - annotated : count);
    if (unit === 'audioSeconds' && charged > 0) charged = Math.max(charged, leastAudioSeconds);
    total = (total ?? 0) + charged * rate;
  }
  return total;
}

/** A search by either tool costs the same where nobody says otherwise. */
function rateOf(rates: UnitRates | undefined, unit: CountedUnit): number | undefined {
  return rates?.[unit] ?? (unit === 'previewSearches' ? rates?.webSearches : undefined);
}

/** By quality and size, each with its `default`. Undefined when there is no image, or no price for it. */
function imagesNanoUsd({ images }: Rates, counts: ReplyUnits): number | undefined {
  if (images === undefined || counts.images === undefined) return undefined;
  const sizes = ownOf(images, counts.imageQuality) ?? images.default;
  const price = sizes === undefined ? undefined : (ownOf(sizes, counts.imageSize) ?? sizes.default);
  return price === undefined ? undefined : positive(counts.images) * price;
}

/** By size, with its `default`. Undefined when there is no video, or no price for it. */
function videosNanoUsd({ videos }: Rates, counts: ReplyUnits): number | undefined {
  if (videos === undefined || counts.videoSeconds === undefined) return undefined;
  const price = ownOf(videos, counts.videoSize) ?? videos.default;
  return price === undefined ? undefined : positive(counts.videoSeconds) * price;
}

function requestNanoUsd(rates: Rates, counts: ReplyUnits | undefined): number {
  const bySize =
    rates.searchContexts === undefined
      ? undefined
      : ownOf(rates.searchContexts, counts?.searchContext);
  return bySize ?? rates.requestNanoUsd;
}

/** Names come from outside: only what was listed is looked at. */
function ownOf<T>(prices: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(prices, name) ? prices[name] : undefined;
}

/** Kinds that a reply tells beside its counts are no more than those. */
function atMost(whole: number, part: number | undefined): number {
  return Math.min(positive(part), whole);
}

/** NaN counts as zero, too; infinity as the largest that is exact. */
function positive(count: number | undefined): number {
  return Math.min(Math.max(count ?? 0, 0) || 0, Number.MAX_SAFE_INTEGER);
}

/** Each side is rounded once. */
function costFrom(input: number, output: number, request: number): Cost {
  const inputNanoUsd = Math.round(input);
  const outputNanoUsd = Math.round(output);
  const totalNanoUsd = inputNanoUsd + outputNanoUsd + Math.round(request);
  if (totalNanoUsd <= nanoUsdMax) return { totalNanoUsd, inputNanoUsd, outputNanoUsd };
  return {
    totalNanoUsd: nanoUsdMax,
    inputNanoUsd: Math.min(inputNanoUsd, nanoUsdMax),
    outputNanoUsd: Math.min(outputNanoUsd, nanoUsdMax),
    isCut: true,
  };
}
