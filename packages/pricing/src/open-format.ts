import {
  type ContextTier,
  clean,
  type ImagePrices,
  type ListedModel,
  type ListedPrices,
  type ListedRegion,
  noPrices,
  type VideoPrices,
  withRest,
} from './listed-model.ts';
import { overlookedKeys } from './overlooked-keys.ts';
import {
  requestUnit,
  searchContextUnit,
  sizedVideoUnit,
  tokenKeys,
  tokenUnits,
  unitKeys,
  videoUnit,
} from './price-keys.ts';
import { type TokenKind, type TokenPrices, tokenKinds } from './token-prices.ts';
import { type CountedUnit, countedUnits } from './unit-counts.ts';

/** Something in a price document that is not as it must be, and where. */
export class PriceFault extends Error {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = 'PriceFault';
    this.path = path;
    this.reason = reason;
  }
}

/** A price nobody would mean: beyond it a request of one token would cost a thousand dollars. */
const centsMax = 100_000;
const modelsMax = 20_000;
/** Told of one file: who sees so many looks at the first. */
const overlookedMax = 1000;

/** A file of one provider: models by the names that callers send. What is `default` in it says nothing of a price. */
export interface PriceFile {
  models: ReadonlyMap<string, ListedModel>;
  /** Paths of what is said of models and means nothing here. */
  overlooked: readonly string[];
}

/**
 * Reads a provider's file, model by model: a long one must not stop everything
 * else, so whoever reads it may pause between them.
 * @throws PriceFault with the path of the first fault
 */
export function* readPriceFile(document: unknown): Generator<string, PriceFile> {
  const entries = Object.entries(objectAt(document, '$'));
  if (entries.length > modelsMax) throw new PriceFault('$', `has more than ${modelsMax} models`);
  const models = new Map<string, ListedModel>();
  const overlooked: string[] = [];
  for (const [name, entry] of entries) {
    if (name !== 'default') models.set(name, readEntry(entry, `$.${name}`));
    for (const path of overlookedKeys(entry, `$.${name}`))
      if (overlooked.length < overlookedMax) overlooked.push(path);
    yield name;
  }
  return { models: withLongContexts(models), overlooked };
}

/**
 * One model: an entry of a file, or what administrators set for a model.
 * @throws PriceFault with the path of the first fault
 */
export function readEntry(entry: unknown, path: string): ListedModel {
  const object = objectAt(entry, path);
  const config = optionalObject(object.pricing_config, `${path}.pricing_config`) ?? {};
  const batch = optionalObject(config.batch_config, `${path}.pricing_config.batch_config`);
  const currency = config.currency;
  if (currency !== undefined && currency !== 'USD')
    throw new PriceFault(`${path}.pricing_config.currency`, 'must be USD');
  return {
    standard: readPrices(config, `${path}.pricing_config`),
    ...(batch === undefined
      ? {}
      : { batch: readTokens(batch, `${path}.pricing_config.batch_config`) }),
    regions: readRegions(object.custom_pricing, `${path}.custom_pricing`),
  };
}

function readRegions(value: unknown, path: string): ListedRegion[] {
  const custom = optionalObject(value, path);
  if (custom === undefined) return [];
  const thresholds = readThresholds(custom.context_tier_map, `${path}.context_tier_map`);
  const regions = optionalObject(custom.regions, `${path}.regions`) ?? {};
  return Object.entries(regions).map(([names, region]) => {
    const at = `${path}.regions.${names}`;
    const modesAt = `${at}.execution_modes`;
    const modes = optionalObject(objectAt(region, at).execution_modes, modesAt) ?? {};
    return {
      names: names === 'default' ? [] : names.split(',').map((name) => name.trim()),
      modes: new Map(
        Object.entries(modes).map(([mode, cell]) => [
          mode,
          readCell(objectAt(cell, `${modesAt}.${mode}`), thresholds, `${modesAt}.${mode}`),
        ]),
      ),
    };
  });
}

/** Names of context tiers, each with the tokens of input above which it holds. */
function readThresholds(value: unknown, path: string): Map<string, number> {
  const thresholds = new Map<string, number>();
  for (const [tokens, name] of Object.entries(optionalObject(value, path) ?? {})) {
    const above = Number(tokens);
    if (!Number.isSafeInteger(above) || above < 0)
      throw new PriceFault(`${path}.${tokens}`, 'must be named by a number of tokens');
    if (typeof name !== 'string') throw new PriceFault(`${path}.${tokens}`, 'must be a text');
    if (thresholds.has(name)) throw new PriceFault(`${path}.${tokens}`, `is a second ${name}`);
    for (const [other, at] of thresholds)
      if (at === above) throw new PriceFault(`${path}.${tokens}`, `is where ${other} begins`);
    thresholds.set(name, above);
  }
  return thresholds;
}

function readCell(
  cell: Readonly<Record<string, unknown>>,
  thresholds: ReadonlyMap<string, number>,
  path: string,
): ListedPrices {
  const base = optionalObject(cell.pricing_config, `${path}.pricing_config`);
  let prices = base === undefined ? noPrices : readPrices(base, `${path}.pricing_config`);
  const tiers: ContextTier[] = [];
  const named = optionalObject(cell.context_tiers, `${path}.context_tiers`) ?? {};
  for (const [name, value] of Object.entries(named)) {
    const at = `${path}.context_tiers.${name}`;
    const above = thresholds.get(name);
    if (above === undefined) throw new PriceFault(at, 'is not in context_tier_map');
    const config = optionalObject(objectAt(value, at).pricing_config, `${at}.pricing_config`) ?? {};
    const listed = readPrices(config, `${at}.pricing_config`);
    // The tier that begins at nothing is what holds where no other does.
    if (above === 0)
      prices = { ...withRest(listed, prices), tokens: { ...prices.tokens, ...listed.tokens } };
    else tiers.push({ aboveInputTokens: above, tokens: listed.tokens });
  }
  return { ...prices, contextTiers: tiers.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens) };
}

function readPrices(config: Readonly<Record<string, unknown>>, path: string): ListedPrices {
  const at = `${path}.pay_as_you_go`;
  const listed = optionalObject(config.pay_as_you_go, at) ?? {};
  const units = optionalObject(listed.additional_units, `${at}.additional_units`) ?? {};
  const fee = unitPrice(units, [requestUnit], at) ?? fixedCost(config.fixed_cost, path);
  return {
    tokens: { ...readTokens(listed, at), ...readTokenUnits(units, listed, at) },
    units: {
      ...readUnits(units, at),
      ...readTraining(config.finetune_config, `${path}.finetune_config`),
    },
    images: readImages(listed.image, `${at}.image`),
    videos: readVideos(units, at),
    ...(fee === undefined ? {} : { requestNanoUsd: fee }),
    searchContexts: readSearchContexts(units, at),
    contextTiers: [],
  };
}

function readTokens(listed: Readonly<Record<string, unknown>>, path: string): TokenPrices {
  const tokens: Partial<Record<TokenKind, number>> = {};
  for (const kind of tokenKinds)
    for (const key of tokenKeys[kind]) {
      const price = priceAt(listed[key], `${path}.${key}`);
      if (price === undefined) continue;
      tokens[kind] ??= price;
    }
  return tokens;
}

function readTokenUnits(
  units: Readonly<Record<string, unknown>>,
  listed: Readonly<Record<string, unknown>>,
  path: string,
): TokenPrices {
  const tokens: Partial<Record<TokenKind, number>> = {};
  for (const kind of tokenKinds) {
    const name = tokenUnits[kind];
    if (name === undefined || tokenKeys[kind].some((key) => listed[key] !== undefined)) continue;
    const price = unitPrice(units, [name], path);
    if (price !== undefined) tokens[kind] = price;
  }
  return tokens;
}

function readUnits(
  units: Readonly<Record<string, unknown>>,
  path: string,
): Partial<Record<CountedUnit, number>> {
  // Every price is looked at, also of what is not counted: a slip must be told where it is.
  for (const name of Object.keys(units)) unitPrice(units, [name], path);
  const known: Partial<Record<CountedUnit, number>> = {};
  for (const unit of countedUnits) {
    const price = unitPrice(units, unitKeys[unit], path);
    if (price !== undefined) known[unit] = price;
  }
  return known;
}

/** Training is charged by the token where that has a price, else by the time it takes. */
function readTraining(value: unknown, path: string): Partial<Record<CountedUnit, number>> {
  const config = optionalObject(value, path) ?? {};
  const token = priceAt(config.pay_per_token, `${path}.pay_per_token`);
  const hour = priceAt(config.pay_per_hour, `${path}.pay_per_hour`);
  if (token !== undefined && (token > 0 || hour === undefined)) return { trainedTokens: token };
  return hour === undefined ? {} : { trainingSeconds: clean(hour / 3600) };
}

function readVideos(
  units: Readonly<Record<string, unknown>>,
  path: string,
): VideoPrices | undefined {
  const videos: Record<string, number> = {};
  for (const name of Object.keys(units)) {
    const [, width, height] = sizedVideoUnit.exec(name) ?? [];
    if (name !== videoUnit && width === undefined) continue;
    const price = unitPrice(units, [name], path);
    if (price !== undefined) videos[name === videoUnit ? 'default' : `${width}x${height}`] = price;
  }
  return Object.keys(videos).length === 0 ? undefined : videos;
}

function readSearchContexts(
  units: Readonly<Record<string, unknown>>,
  path: string,
): Record<string, number> | undefined {
  const fees: Record<string, number> = {};
  for (const name of Object.keys(units)) {
    const [, size] = searchContextUnit.exec(name) ?? [];
    const price = size === undefined ? undefined : unitPrice(units, [name], path);
    if (size !== undefined && price !== undefined) fees[size] = price;
  }
  return Object.keys(fees).length === 0 ? undefined : fees;
}

function unitPrice(
  units: Readonly<Record<string, unknown>>,
  names: readonly string[],
  path: string,
): number | undefined {
  for (const name of names) {
    const price = priceAt(units[name], `${path}.additional_units.${name}`);
    if (price !== undefined) return price;
  }
  return undefined;
}

function readImages(value: unknown, path: string): ImagePrices | undefined {
  const qualities = optionalObject(value, path);
  if (qualities === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(qualities).map(([quality, sizes]) => {
      const at = `${path}.${quality}`;
      return [
        quality,
        Object.fromEntries(
          Object.entries(objectAt(sizes, at)).flatMap(([size, value]) => {
            const price = priceAt(value, `${at}.${size}`);
            return price === undefined ? [] : [[size, price] as const];
          }),
        ),
      ];
    }),
  );
}

/** The older spelling of a fee for the request. */
function fixedCost(value: unknown, path: string): number | undefined {
  const fixed = optionalObject(value, `${path}.fixed_cost`);
  if (fixed === undefined) return undefined;
  const request = priceAt(fixed.request, `${path}.fixed_cost.request`);
  const response = priceAt(fixed.response, `${path}.fixed_cost.response`);
  return request === undefined && response === undefined
    ? undefined
    : clean((request ?? 0) + (response ?? 0));
}

/** US cents, as `{price}`, to nano-dollars. */
function priceAt(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const { price } = objectAt(value, path);
  if (price === undefined || price === null) return undefined;
  if (typeof price !== 'number' || !Number.isFinite(price))
    throw new PriceFault(`${path}.price`, 'must be a number');
  if (price < 0) throw new PriceFault(`${path}.price`, 'must not be negative');
  if (price > centsMax) throw new PriceFault(`${path}.price`, `must be ${centsMax} cents at most`);
  return clean(price * 1e7);
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  const object = optionalObject(value, path);
  if (object === undefined) throw new PriceFault(path, 'must be an object');
  return object;
}

function optionalObject(
  value: unknown,
  path: string,
): Readonly<Record<string, unknown>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new PriceFault(path, 'must be an object');
  return value as Readonly<Record<string, unknown>>;
}

/**
 * The older way to list two context tiers: a model and a suffix each. The suffix
 * says 128k, which is where the tiers of the first such models met; those of later
 * ones meet at 200k.
 */
function withLongContexts(models: Map<string, ListedModel>): Map<string, ListedModel> {
  for (const [name, long] of models) {
    if (!name.endsWith(longSuffix)) continue;
    const plain = name.slice(0, -longSuffix.length);
    const short = models.get(`${plain}${shortSuffix}`);
    if (short === undefined || models.has(plain)) continue;
    const aboveInputTokens = plain.includes('1.5') ? 128_000 : 200_000;
    models.set(plain, {
      ...short,
      standard: {
        ...short.standard,
        contextTiers: [{ aboveInputTokens, tokens: long.standard.tokens }],
      },
    });
  }
  return models;
}

const shortSuffix = '-lte-128k';
const longSuffix = '-gt-128k';
