import {
  type ListLayer,
  type PriceBook,
  type PriceQuery,
  type Rates,
  tiersOf,
} from '@sluice/pricing';

/** Rates of a model as they are for everybody, by service tier, here and in places with prices of their own. */
export interface PricedModel {
  readonly rates: Rates;
  readonly layer: ListLayer;
  readonly tiers: ReadonlyMap<string, Rates>;
  readonly regions: readonly {
    readonly names: readonly string[];
    readonly tiers: ReadonlyMap<string, Rates>;
  }[];
}

/** Undefined when nobody listed a price for anything of it. */
export function priceModel(book: PriceBook, query: PriceQuery): PricedModel | undefined {
  const found = book.find(query);
  const rates = book.lookUp(query);
  if (found === undefined || rates === undefined) return undefined;
  const { model, layer } = found;
  const ratesAt = (region: string, tiers: readonly string[]): ReadonlyMap<string, Rates> =>
    new Map(
      tiers.flatMap((tier) => {
        const served = book.lookUp({ ...query, tier, region });
        return served === undefined ? [] : [[tier, served] as const];
      }),
    );
  return {
    rates,
    layer,
    tiers: ratesAt('', ['batch', ...tiersOf(model, '').filter((tier) => tier !== 'batch')]),
    regions: model.regions
      .filter(({ names }) => names.some((name) => name !== ''))
      .map(({ names }) => ({
        names,
        tiers: ratesAt(names[0] ?? '', ['standard', ...tiersOf(model, names[0] ?? '')]),
      })),
  };
}
