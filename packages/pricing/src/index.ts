/**
 * What a request costs: rates by provider, model, tier, place and day, and the
 * arithmetic from counts to integer nano-dollars. Pure; it never opens a
 * connection or a file. Start at `price-book.ts` (look-up), then `cost.ts` (arithmetic).
 */
export { type CataloguedModel, cataloguedModels } from './catalogued-models.ts';
export { type Cost, costOf, costOfReply, sumOfCosts, unpricedTools } from './cost.ts';
export { type CustomPrices, readCustomPrices } from './custom-prices.ts';
export { FilePrices, type FilePriceVersion, type ProviderPrices } from './file-prices.ts';
export type { ImagePrices, ListedModel } from './listed-model.ts';
export { tiersOf } from './listed-model.ts';
export { costOfMoreTokens, type TokenDifference } from './more-tokens.ts';
export { Multipliers } from './multipliers.ts';
export { PriceFault, type PriceFile, readPriceFile } from './open-format.ts';
export { PriceBook, type PriceQuery } from './price-book.ts';
export { unitKeys, videoUnitOf } from './price-keys.ts';
export type { ListLayer, Rates, TokenRates } from './rates.ts';
export {
  chargedTokens,
  namedTokens,
  otherModelTokens,
  priceQueryOf,
  type RecordedUse,
  tokensOf,
  unitsOf,
  usedOtherModels,
} from './recorded-use.ts';
export { type CountedUnit, countedUnits, type UnitRates } from './unit-counts.ts';
