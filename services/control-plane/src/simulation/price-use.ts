import type { TargetFacts } from '@sluice/engine';
import {
  type CustomPrices,
  costOfReply,
  Multipliers,
  type PriceBook,
  PriceFault,
  type Rates,
  type RecordedUse,
  readCustomPrices,
  tokensOf,
  unitsOf,
  usedOtherModels,
} from '@sluice/pricing';
import type { ProviderOfTask } from './task.ts';

/** Where and how a reply was served, as its provider told. */
export interface Served {
  /** The model that answered; empty = the one that was asked. */
  readonly model: string;
  readonly tier: string;
  readonly region: string;
}

interface SavedPrices {
  readonly custom: ReadonlyMap<string, CustomPrices>;
  readonly bases: ReadonlyMap<string, string>;
  readonly multipliers: Multipliers | undefined;
}

const hourMs = 3_600_000;
const ratesMax = 20_000;

/** What use costs at targets, by the price book, and by what administrators set for saved providers as it is now. */
export class UsePrices {
  readonly #book: Pick<PriceBook, 'lookUp'>;
  readonly #saved: ReadonlyMap<string, SavedPrices>;
  readonly #rates = new Map<string, Rates | undefined>();

  constructor(book: Pick<PriceBook, 'lookUp'>, providers: readonly ProviderOfTask[]) {
    this.#book = book;
    this.#saved = new Map(providers.map((provider) => [provider.slug, savedPrices(provider)]));
  }

  /** Nano-dollars; undefined = no price is known. What used nothing costs nothing. */
  priceOf(target: TargetFacts, use: RecordedUse, served: Served, atMs: number): number | undefined {
    const [tokens, units] = [tokensOf(use), unitsOf(use)];
    if (tokens === undefined && units === undefined) return 0;
    if (usedOtherModels(use)) return undefined;
    const asked = target.model ?? '';
    const base = this.#saved.get(target.providerSlug ?? '')?.bases.get(asked);
    for (const model of new Set([served.model, asked, base])) {
      if (model === undefined || model === '') continue;
      const rates = this.#ratesOf(target, { ...served, model }, atMs);
      const cost = rates === undefined ? undefined : costOfReply(rates, tokens, units);
      if (cost !== undefined) return cost.totalNanoUsd;
    }
    return undefined;
  }

  /** Prices change with the day, some with the hour. */
  #ratesOf(target: TargetFacts, served: Served, atMs: number): Rates | undefined {
    const saved = this.#saved.get(target.providerSlug ?? '');
    const hour = Math.floor(atMs / hourMs);
    const key = JSON.stringify([
      target.provider,
      target.providerSlug,
      target.model,
      served.model,
      served.tier,
      served.region,
      hour,
    ]);
    if (this.#rates.has(key)) return this.#rates.get(key);
    if (this.#rates.size >= ratesMax) this.#rates.clear();
    const rates = this.#book.lookUp({
      provider: target.provider,
      ...served,
      atMs,
      custom: saved?.custom.get(target.model ?? ''),
      multipliers: saved?.multipliers,
    });
    this.#rates.set(key, rates);
    return rates;
  }
}

function savedPrices({ models, multipliers }: ProviderOfTask): SavedPrices {
  return {
    custom: new Map(
      models.flatMap(({ slug, prices }) => {
        const custom = prices === null ? undefined : readPrices(prices);
        return custom === undefined ? [] : [[slug, custom] as const];
      }),
    ),
    bases: new Map(models.flatMap(({ slug, base }) => (base === null ? [] : [[slug, base]]))),
    multipliers: Object.keys(multipliers).length === 0 ? undefined : new Multipliers(multipliers),
  };
}

/** A document that is none sets nothing, at gateways too. */
function readPrices(document: unknown): CustomPrices | undefined {
  try {
    return readCustomPrices(document, 'custom');
  } catch (error) {
    if (error instanceof PriceFault) return undefined;
    throw error;
  }
}
