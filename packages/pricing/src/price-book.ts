import { applyCorrections } from './apply-corrections.ts';
import { cataloguePrices, catalogueVersion } from './catalogue.ts';
import { correctionsVersion } from './corrections.ts';
import type { CustomPrices } from './custom-prices.ts';
import { overlaid } from './custom-prices.ts';
import type { FilePrices } from './file-prices.ts';
import { type ListedModel, type ListedPrices, noPrices, pricesFor } from './listed-model.ts';
import { candidateNames } from './model-names.ts';
import type { Multipliers } from './multipliers.ts';
import { catalogueIdOf } from './provider-ids.ts';
import { type ListLayer, type Rates, ratesOf } from './rates.ts';

export interface PriceQuery {
  /** Catalogue id of the provider, e.g. `openai`, `bedrock`. */
  provider: string;
  model: string;
  /** The day decides which of a model's price lists applies. */
  atMs: number;
  /** As served; empty or absent = standard. */
  tier?: string;
  /** Where it was served; empty or absent = nobody says. */
  region?: string;
  /** What an administrator entered for this model. */
  custom?: CustomPrices | undefined;
  /** What an administrator multiplies the prices of this credential by. */
  multipliers?: Multipliers | undefined;
}

/** A model as the first source that knows it has it. */
export interface FoundPrices {
  readonly model: ListedModel;
  readonly layer: ListLayer;
  readonly version: string;
}

/** Names the state of the built-in prices. */
export const listVersion = `${catalogueVersion}+${correctionsVersion}`;

/**
 * What models cost: prices of administrators, then the operator's files, then the
 * catalogue with its corrections. Looking up takes up to a millisecond; callers
 * keep the answer, also the undefined one, for minutes (not longer: some prices
 * depend on the time of day).
 */
export class PriceBook {
  #files: FilePrices | undefined;

  constructor(files?: FilePrices) {
    this.#files = files;
  }

  /** Takes effect with the next look-up. */
  set files(files: FilePrices) {
    this.#files = files;
  }

  /**
   * The rates of a model, or undefined when nobody listed a price for anything of
   * it: an unknown cost, not a free one.
   */
  lookUp(query: PriceQuery): Rates | undefined {
    const found = this.find(query);
    const served = {
      tier: query.tier === undefined || query.tier === '' ? 'standard' : query.tier,
      region: query.region ?? '',
    };
    const listed = found === undefined ? undefined : pricesFor(found.model, served);
    const { custom } = query;
    const prices: ListedPrices | undefined =
      custom === undefined ? listed : overlaid(pricesFor(custom.model, served), listed ?? noPrices);
    if (prices === undefined) return undefined;
    return ratesOf(prices, {
      layer: custom === undefined ? (found?.layer ?? 'catalogue') : 'custom',
      version: custom?.version ?? found?.version ?? listVersion,
      isClaude: /claude/i.test(query.model) || query.provider === 'anthropic',
      multipliers: query.multipliers,
    });
  }

  /** What is listed of a model by files or catalogue, every tier and place of it. */
  find({ provider, model, atMs }: PriceQuery): FoundPrices | undefined {
    const names = candidateNames(provider, model);
    const file = this.#files?.at(provider, atMs);
    if (file !== undefined)
      for (const name of names) {
        const listed = file.models.get(name);
        if (listed !== undefined) return { model: listed, layer: 'file', version: file.version };
      }
    const built = builtInPrices(provider, model, names, atMs);
    return built === undefined
      ? undefined
      : { model: built, layer: 'catalogue', version: listVersion };
  }
}

/** The catalogue with its corrections. */
function builtInPrices(
  provider: string,
  model: string,
  names: readonly string[],
  atMs: number,
): ListedModel | undefined {
  const catalogueId = catalogueIdOf(provider, model);
  let listed: ListedPrices | undefined;
  if (catalogueId !== undefined)
    for (const name of names) {
      listed = cataloguePrices(catalogueId, name, atMs);
      if (listed !== undefined) break;
    }
  // The built-in upstream answers as OpenAI does.
  return applyCorrections(listed, provider === 'demo' ? 'openai' : provider, names, atMs);
}
