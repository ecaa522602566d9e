import { noUsage } from '@sluice/contracts';
import { costOfReply, lookUpRates, type Rates } from '@sluice/pricing';
import type { ReplyUnits, Usage } from '@sluice/providers';
import type { PricedReply } from '../exchange/attempt.ts';
import type { Target } from '../exchange/target.ts';

/** What of a reply costs money. */
export interface Counted {
  tokens: Usage | undefined;
  units: ReplyUnits | undefined;
}

const ratesMax = 10_000;
const ratesTtlMs = 5 * 60_000;

/** What replies cost: prices that admins set for a model over those of the price book. */
export class PriceList {
  readonly #rates = new Map<string, Rates | undefined>();
  #emptiedAt = performance.now();

  /** Undefined = no price is known. */
  price(
    target: Target,
    model: string,
    { tokens, units }: Counted,
    atMs: number,
  ): PricedReply | undefined {
    const rates = this.#ratesOf(target, model, atMs);
    if (rates === undefined) return undefined;
    const imageTokens = units?.inputImageTokens;
    const counted =
      tokens === undefined || imageTokens === undefined
        ? tokens
        : { ...tokens, inputImageTokens: imageTokens };
    const cost = costOfReply(rates, counted, units);
    return cost === undefined ? undefined : { cost, layer: rates.layer };
  }

  /** What so many tokens would cost at a target, in nano-USD; undefined = no price is known. */
  estimate(
    target: Target,
    tokens: { inputTokens: number; outputTokens: number },
  ): number | undefined {
    const counted = { tokens: { ...noUsage, ...tokens }, units: undefined };
    return this.price(target, target.servedModel, counted, Date.now())?.cost.totalNanoUsd;
  }

  #ratesOf(target: Target, model: string, atMs: number): Rates | undefined {
    const custom = target.saved?.models.get(target.servedModel);
    const key = `${target.saved?.slug ?? ''}|${target.entry.id}|${model}|${custom?.requestTokenPrice ?? ''}|${custom?.responseTokenPrice ?? ''}`;
    // Prices have dates: what was looked up holds for a while.
    const now = performance.now();
    if (this.#rates.size >= ratesMax || now - this.#emptiedAt > ratesTtlMs) {
      this.#rates.clear();
      this.#emptiedAt = now;
    }
    let rates = this.#rates.get(key);
    if (rates !== undefined || this.#rates.has(key)) return rates;
    rates = lookUpRates({
      provider: target.entry.id,
      model,
      atMs,
      custom:
        custom === undefined ||
        (custom.requestTokenPrice === '' && custom.responseTokenPrice === '')
          ? undefined
          : {
              requestTokenCents: custom.requestTokenPrice,
              responseTokenCents: custom.responseTokenPrice,
            },
    });
    this.#rates.set(key, rates);
    return rates;
  }
}
