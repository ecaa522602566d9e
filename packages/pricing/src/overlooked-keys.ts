import { tokenKeys } from './price-keys.ts';

const tokenNames = Object.values(tokenKeys).flat();

const known = {
  model: new Set(['pricing_config', 'custom_pricing']),
  prices: new Set([
    'pay_as_you_go',
    'batch_config',
    'finetune_config',
    'fixed_cost',
    'calculate',
    'currency',
  ]),
  payAsYouGo: new Set([...tokenNames, 'additional_units', 'image']),
  batch: new Set(tokenNames),
  custom: new Set(['context_tier_map', 'regions']),
  region: new Set(['execution_modes']),
  mode: new Set(['pricing_config', 'context_tiers']),
  contextTier: new Set(['pricing_config']),
  price: new Set(['price']),
};

/**
 * What a price document says of a model and nobody reads, by its path: a slip in a name leaves out a price without a fault, and what
 * has none is charged nothing. The document is one that was read.
 */
export function overlookedKeys(entry: unknown, path: string): string[] {
  const model = objectOf(entry);
  const custom = objectOf(model.custom_pricing);
  const at = `${path}.custom_pricing`;
  return [
    ...besides(model, known.model, path),
    ...ofPrices(model, path),
    ...besides(custom, known.custom, at),
    ...ofEach(custom, 'regions', at, (region, regionAt) => [
      ...besides(region, known.region, regionAt),
      ...ofEach(region, 'execution_modes', regionAt, (mode, modeAt) => [
        ...besides(mode, known.mode, modeAt),
        ...ofPrices(mode, modeAt),
        ...ofEach(mode, 'context_tiers', modeAt, (tier, tierAt) => [
          ...besides(tier, known.contextTier, tierAt),
          ...ofPrices(tier, tierAt),
        ]),
      ]),
    ]),
  ];
}

/** Of its `pricing_config`. */
function ofPrices(holder: Members, path: string): string[] {
  const prices = objectOf(holder.pricing_config);
  const paid = objectOf(prices.pay_as_you_go);
  const batch = objectOf(prices.batch_config);
  const at = `${path}.pricing_config`;
  return [
    ...besides(prices, known.prices, at),
    ...besides(paid, known.payAsYouGo, `${at}.pay_as_you_go`),
    ...besidesOfPrices(paid, `${at}.pay_as_you_go`),
    ...besides(batch, known.batch, `${at}.batch_config`),
    ...besidesOfPrices(batch, `${at}.batch_config`),
  ];
}

function besidesOfPrices(listed: Members, path: string): string[] {
  return tokenNames.flatMap((name) =>
    besides(objectOf(listed[name]), known.price, `${path}.${name}`),
  );
}

function ofEach(
  holder: Members,
  name: string,
  path: string,
  look: (member: Members, path: string) => string[],
): string[] {
  return Object.entries(objectOf(holder[name])).flatMap(([key, member]) =>
    look(objectOf(member), `${path}.${name}.${key}`),
  );
}

function besides(object: object, names: ReadonlySet<string>, path: string): string[] {
  return Object.keys(object)
    .filter((name) => !names.has(name))
    .map((name) => `${path}.${name}`);
}

type Members = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
