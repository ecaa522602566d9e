import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FilePrices, PriceBook, type Rates } from '@sluice/pricing';

/** What changes for one model and kind of price. In dollars a million. */
export interface PriceDifference {
  provider: string;
  model: string;
  price: string;
  /** Undefined = no price is in force. */
  before: number | undefined;
  after: number | undefined;
}

/**
 * Models of files beside what would hold without them: what is in force, or the
 * catalogue where nothing is.
 */
export function listDifferences(
  folder: string,
  inForce: FilePrices | undefined,
  next: FilePrices,
  atMs: number,
): PriceDifference[] {
  const before = new PriceBook(inForce);
  const after = new PriceBook(next);
  const differences: PriceDifference[] = [];
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()) {
    const provider = file.slice(0, -'.json'.length);
    const models = JSON.parse(readFileSync(join(folder, file), 'utf8')) as object;
    for (const model of Object.keys(models)) {
      if (model === 'default') continue;
      const query = { provider, model, atMs };
      const [was, is] = [pricesOf(before.lookUp(query)), pricesOf(after.lookUp(query))];
      for (const price of new Set([...Object.keys(was), ...Object.keys(is)]))
        if (was[price] !== is[price])
          differences.push({ provider, model, price, before: was[price], after: is[price] });
    }
  }
  return differences;
}

function pricesOf(rates: Rates | undefined): Record<string, number> {
  const [base] = rates?.tiers ?? [];
  const prices: Record<string, number> = {};
  for (const [kind, nanoUsd] of Object.entries(base ?? {}))
    if (kind !== 'aboveInputTokens' && typeof nanoUsd === 'number') prices[kind] = nanoUsd / 1000;
  for (const [unit, nanoUsd] of Object.entries(rates?.units ?? {}))
    if (typeof nanoUsd === 'number') prices[`${unit} each`] = nanoUsd / 1e9;
  return prices;
}
