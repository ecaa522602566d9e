import { tokenKeys } from './price-keys.ts';

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
  payAsYouGo: new Set([...Object.values(tokenKeys).flat(), 'additional_units', 'image']),
  batch: new Set(Object.values(tokenKeys).flat()),
};

/**
 * What a price document says of a model and nobody reads, by its path: a slip in a name leaves out a price without a fault, and what
 * has none is charged nothing. The document is one that was read.
 */
export function overlookedKeys(entry: unknown, path: string): string[] {
  const model = objectOf(entry);
  const prices = objectOf(model.pricing_config);
  const at = `${path}.pricing_config`;
  return [
    ...besides(model, known.model, path),
    ...besides(prices, known.prices, at),
    ...besides(objectOf(prices.pay_as_you_go), known.payAsYouGo, `${at}.pay_as_you_go`),
    ...besides(objectOf(prices.batch_config), known.batch, `${at}.batch_config`),
  ];
}

function besides(object: object, names: ReadonlySet<string>, path: string): string[] {
  return Object.keys(object)
    .filter((name) => !names.has(name))
    .map((name) => `${path}.${name}`);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
