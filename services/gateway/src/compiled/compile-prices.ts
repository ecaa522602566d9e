import { createHash } from 'node:crypto';
import { parseText } from '@sluice/json';
import { type CustomPrices, Multipliers, PriceFault, readCustomPrices } from '@sluice/pricing';
import type { config } from '@sluice/proto-stubs';

/** What administrators set for models; a document that is none, which the control plane took before it knew better, sets nothing. */
export function compilePrices(models: readonly config.Model[]): ReadonlyMap<string, CustomPrices> {
  const prices = new Map<string, CustomPrices>();
  for (const model of models) {
    const text = model.pricesJson === '' ? plainPrices(model) : model.pricesJson;
    if (text === undefined) continue;
    const custom = readPrices(text);
    if (custom !== undefined) prices.set(model.slug, custom);
  }
  return prices;
}

export function compileMultipliers(
  factors: Readonly<Record<string, number>>,
): Multipliers | undefined {
  return Object.keys(factors).length === 0 ? undefined : new Multipliers(factors);
}

function readPrices(text: string): CustomPrices | undefined {
  try {
    const version = `custom@${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
    return readCustomPrices(parseText(text), version);
  } catch (error) {
    if (error instanceof PriceFault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The two prices that a control plane of the release before tells. */
function plainPrices({ requestTokenPrice, responseTokenPrice }: config.Model): string | undefined {
  const price = (cents: string) => (cents === '' ? undefined : { price: Number(cents) });
  const request = price(requestTokenPrice);
  const response = price(responseTokenPrice);
  if (request === undefined && response === undefined) return undefined;
  return JSON.stringify({ pay_as_you_go: { request_token: request, response_token: response } });
}
