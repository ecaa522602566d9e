/**
 * What a request costs: rates by provider, model and day, and the arithmetic
 * from token counts to integer nano-dollars. Pure; it never opens a connection.
 * Start at `rates.ts` (look-up), then `cost.ts` (arithmetic).
 */
export { priceBookVersion } from './catalogue.ts';
export { type Cost, costOf, costOfReply, type TokenCounts } from './cost.ts';
export {
  lookUpRates,
  type PriceLayer,
  type PriceQuery,
  type Rates,
  type RatesTier,
  type TokenRates,
} from './rates.ts';
export type { UnitCounts, UnitRates } from './unit-rates.ts';
