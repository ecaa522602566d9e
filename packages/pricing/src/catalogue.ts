import { calcPrice, type ModelPrice } from '@pydantic/genai-prices';

/** Stored with every record, so that a cost can be explained after a later release changed a price. */
export const priceBookVersion = 'genai-prices@0.1.8';

/** The prices valid at `atMs`, in dollars as the catalogue lists them, or undefined when it has none. */
export function catalogueEntry(
  catalogueId: string,
  model: string,
  atMs: number,
): ModelPrice | undefined {
  // Without usage nothing is computed: the call is the library's only way to ask for a price list.
  const found = calcPrice({}, model, {
    providerId: catalogueId,
    timestamp: new Date(atMs),
  });
  // The library also matches providers loosely; another provider's price is worse than none.
  return found?.provider.id === catalogueId ? found.model_price : undefined;
}
