import { catalogueDay } from './catalogue.ts';
import { type Correction, corrections } from './corrections.ts';
import type {
  ContextTier,
  ImagePrices,
  ListedModel,
  ListedPrices,
  ListedRegion,
  VideoPrices,
} from './listed-model.ts';
import { clean, multiplied, noPrices } from './listed-model.ts';
import type { TokenPrices } from './token-prices.ts';
import type { UnitRates } from './unit-counts.ts';

/**
 * The catalogue's prices at `atMs` with what it leaves out, and what changed since it was published; what else
 * it lists, it says itself. Undefined where nobody lists any.
 */
export function applyCorrections(
  listed: ListedPrices | undefined,
  provider: string,
  names: readonly string[],
  atMs: number,
): ListedModel | undefined {
  const at = new Date(atMs);
  let standard = listed;
  const tierFactors = new Map<string, number>();
  const modes = new Map<string, ListedPrices>();
  let cachedInBatches: ListedModel['cachedInBatches'];
  const regional: ((prices: ListedModel) => ListedRegion[])[] = [];
  for (const row of corrections) {
    if (!row.providers.includes(provider) || !names.some((name) => row.models.test(name))) continue;
    if (!isInForce(row, at)) continue;
    const { from = '' } = row;
    standard = from > catalogueDay ? withChanges(standard, row) : withMissing(standard, row);
    for (const [tier, price] of Object.entries(row.tiers ?? {}))
      if (typeof price === 'number') tierFactors.set(tier, price);
      else modes.set(tier, { ...noPrices, tokens: tokensOf(price) });
    cachedInBatches = row.cachedInBatches ?? cachedInBatches;
    const { regions } = row;
    if (regions !== undefined)
      regional.push((model) => [
        { names: regions.names, modes: multipliedModes(model, regions.factor) },
      ]);
    const { elsewhere } = row;
    if (elsewhere !== undefined)
      regional.push((model) => [
        { names: elsewhere.but, modes: multipliedModes(model, 1) },
        { names: [], modes: multipliedModes(model, elsewhere.factor) },
      ]);
  }
  if (standard === undefined) return undefined;
  const everywhere: ListedRegion[] = modes.size === 0 ? [] : [{ names: [], modes }];
  const model: ListedModel = { standard, tierFactors, cachedInBatches, regions: everywhere };
  if (regional.length === 0) return model;
  return {
    ...model,
    regions: [...regional.flatMap((regionsOf) => regionsOf(model)), ...everywhere],
  };
}

function isInForce({ from = '', until, hours }: Correction, at: Date): boolean {
  const day = at.toISOString().slice(0, 10);
  if (day < from || (until !== undefined && day >= until)) return false;
  const [weekday, hour] = [at.getUTCDay(), at.getUTCHours()];
  return (
    hours === undefined ||
    hours.some((span) => span.days.includes(weekday) && hour >= span.from && hour < span.until)
  );
}

/** Every tier of a place at so much more than elsewhere. */
function multipliedModes(
  { standard, tierFactors = new Map(), regions }: ListedModel,
  factor: number,
): ReadonlyMap<string, ListedPrices> {
  const modes = new Map<string, ListedPrices>();
  modes.set('standard', multiplied(standard, factor));
  for (const [tier, own] of tierFactors) modes.set(tier, multiplied(standard, clean(own * factor)));
  for (const region of regions)
    for (const [tier, prices] of region.modes) modes.set(tier, multiplied(prices, factor));
  return modes;
}

/** A price that is newer than the catalogue is in place of what that lists of these tokens. */
function withChanges(listed: ListedPrices | undefined, row: Correction): ListedPrices | undefined {
  const all = withMissing(listed, row);
  if (all === undefined || row.perMillionTokens === undefined) return all;
  return {
    ...all,
    tokens: { ...all.tokens, ...tokensOf(row.perMillionTokens) },
    contextTiers: contextTiersOf(row),
  };
}

/** A row adds what is not listed; the catalogue is newer than a row about what it lists. */
function withMissing(listed: ListedPrices | undefined, row: Correction): ListedPrices | undefined {
  const units: Record<string, number> = {};
  for (const [unit, dollars] of Object.entries(row.perThousand ?? {}))
    units[unit] = clean(dollars * 1e6);
  if (row.perMillionCharacters !== undefined)
    units.characters = clean(row.perMillionCharacters * 1e3);
  if (row.perMinute !== undefined) units.audioSeconds = clean((row.perMinute * 1e9) / 60);
  const tokens = tokensOf(row.perMillionTokens ?? {});
  const images = row.perImage === undefined ? undefined : imagesOf(row.perImage);
  if (row.perMillionTrained !== undefined) units.trainedTokens = clean(row.perMillionTrained * 1e3);
  if (row.perTrainingHour !== undefined)
    units.trainingSeconds = clean((row.perTrainingHour * 1e9) / 3600);
  const isPriced =
    row.perMillionTokens !== undefined ||
    row.perMillionCharacters !== undefined ||
    row.perMinute !== undefined ||
    images !== undefined ||
    row.perVideoSecond !== undefined ||
    row.perMillionTrained !== undefined ||
    row.perTrainingHour !== undefined ||
    row.perThousand?.searchUnits !== undefined;
  // Searches are no model: what is known only by them has no known price.
  if (listed === undefined && !isPriced) return undefined;
  const base = listed ?? noPrices;
  return {
    ...base,
    tokens: { ...tokens, ...base.tokens },
    contextTiers: base.contextTiers.length > 0 ? base.contextTiers : contextTiersOf(row),
    units: { ...(units as UnitRates), ...base.units },
    images: base.images ?? images,
    videos: base.videos ?? videosOf(row.perVideoSecond),
    leastAudioSeconds: base.leastAudioSeconds ?? row.leastAudioSeconds,
    searchContexts: base.searchContexts ?? requestsOf(row.perThousandRequests),
  };
}

function tokensOf(dollars: TokenPrices): TokenPrices {
  return Object.fromEntries(
    Object.entries(dollars).map(([kind, price]) => [kind, clean(price * 1000)]),
  );
}

function contextTiersOf({ contextTiers = [] }: Correction): ContextTier[] {
  return contextTiers.map(({ above, perMillionTokens }) => ({
    aboveInputTokens: above,
    tokens: tokensOf(perMillionTokens),
  }));
}

function imagesOf(dollars: ImagePrices): ImagePrices {
  return Object.fromEntries(
    Object.entries(dollars).map(([quality, sizes]) => [
      quality,
      Object.fromEntries(Object.entries(sizes).map(([size, price]) => [size, clean(price * 1e9)])),
    ]),
  );
}

function videosOf(dollars: VideoPrices | undefined): VideoPrices | undefined {
  if (dollars === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(dollars).map(([size, price]) => [size, clean(price * 1e9)]),
  );
}

function requestsOf(
  dollars: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> | undefined {
  if (dollars === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(dollars).map(([size, price]) => [size, clean(price * 1e6)]),
  );
}
