import { createRequire } from 'node:module';
import type { ModelPrice } from '@pydantic/genai-prices';

type PriceLibrary = typeof import('@pydantic/genai-prices');

/** Stored with every record, so that a cost can be explained after a later release changed a price. */
export const priceBookVersion = 'genai-prices@0.1.8';

let library: PriceLibrary | undefined;

/**
 * The catalogue is about 20 MB of memory and 30–60 ms of parsing, so it is read
 * on first use, and with `require` because a look-up is synchronous.
 */
function load(): PriceLibrary {
  library ??= createRequire(import.meta.url)('@pydantic/genai-prices') as PriceLibrary;
  return library;
}

/** The prices valid at `atMs`, in dollars as the catalogue lists them, or undefined when it has none. */
export function catalogueEntry(
  catalogueId: string,
  model: string,
  atMs: number,
): ModelPrice | undefined {
  // Without usage nothing is computed: the call is the library's only way to ask for a price list.
  const found = load().calcPrice({}, model, {
    providerId: catalogueId,
    timestamp: new Date(atMs),
  });
  // The library also matches providers loosely; another provider's price is worse than none.
  return found?.provider.id === catalogueId ? found.model_price : undefined;
}
