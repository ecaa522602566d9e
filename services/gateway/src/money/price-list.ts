import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import type { CacheLifetime } from '@sluice/engine';
import { costOfReply, type PriceBook, type Rates, unpricedTools } from '@sluice/pricing';
import type { PricedReply } from '../exchange/bill.ts';
import type { Target } from '../exchange/target.ts';
import type { AskedFor } from './asked-for.ts';
import { servedRegion } from './served-region.ts';

/** What of a reply costs money. */
export interface Counted {
  readonly tokens: ChatUsage | undefined;
  readonly units: ReplyUnits | undefined;
}

/** What beside the target decides the price of a reply. */
export interface Serving {
  /** The model that is paid for. */
  readonly model: string;
  /** Empty = standard. */
  readonly tier: string;
  /** Empty = nobody says. */
  readonly region: string;
  readonly atMs: number;
}

/** Of so much text. Written out: copies of `noUsage` took a third of what an estimate did. */
function usageOf({ inputTokens, outputTokens }: Asked['tokens']): ChatUsage {
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
}

/** All that goes in is cached, for so long. */
function writtenOf(usage: ChatUsage, writes: CacheLifetime): ChatUsage {
  const { inputTokens } = usage;
  return {
    ...usage,
    cacheWriteTokens: inputTokens,
    cacheWrite1hTokens: writes === '1h' ? inputTokens : 0,
  };
}

/** What may be used, and how it is asked for. */
export interface Asked extends AskedFor {
  readonly tokens: { readonly inputTokens: number; readonly outputTokens: number };
  readonly units?: ReplyUnits | undefined;
}

/** Now, by the model that is asked, where its credential is for, or where the request asks to be served. */
export function servingOf(
  target: Target,
  { tier, region }: Pick<AskedFor, 'tier' | 'region'>,
): Serving {
  const served = servedRegion(target, undefined) || region;
  return { model: target.servedModel, tier, region: served, atMs: Date.now() };
}

/** What of a target decides its prices. */
type Priced = Pick<Target, 'saved' | 'entry' | 'servedModel'>;

interface KnownRates {
  readonly rates: Rates;
  /** Without what the administrators multiply by; undefined when they do not. */
  readonly listed: Rates | undefined;
}

/** What is multiplied by nothing: records with 0 are of those that are not multiplied. Nothing is left of any cost. */
const freeMultiplier = 1e-300;
const ratesMax = 10_000;
const ratesTtlMs = 5 * 60_000;

/**
 * What replies cost at a target, by the price book, administrators' prices and
 * multipliers included. What was looked up is kept for a while: a look-up takes
 * up to a millisecond, and prices have dates and times of day.
 */
export class PriceList {
  readonly #book: PriceBook;
  /** By who is paid: a changed credential is another object. */
  #known = new WeakMap<object, Map<string, KnownRates | undefined>>();
  #count = 0;
  #emptiedAt = performance.now();

  constructor(book: PriceBook) {
    this.#book = book;
  }

  /** The price book changed: what was looked up before is void. */
  forget(): void {
    this.#known = new WeakMap();
    this.#count = 0;
    this.#emptiedAt = performance.now();
  }

  /** Undefined = no price is known. */
  price(target: Target, { tokens, units }: Counted, serving: Serving): PricedReply | undefined {
    const known = this.#ratesOf(target, serving);
    if (known === undefined) return undefined;
    const cost = costOfReply(known.rates, tokens, units);
    if (cost === undefined) return undefined;
    const { layer, version } = known.rates;
    const unpriced = unpricedTools(known.rates, units);
    const told = { cost, unpriced, layer, version, region: serving.region };
    if (known.listed === undefined) return { ...told, multiplier: 0 };
    const before = costOfReply(known.listed, tokens, units)?.totalNanoUsd ?? 0;
    const multiplier = before === 0 ? 1 : Math.max(cost.totalNanoUsd / before, freeMultiplier);
    return { ...told, multiplier };
  }

  /** What a model costs at a provider; undefined = no price is known. */
  rates(target: Priced): Rates | undefined {
    const serving = { model: target.servedModel, tier: '', region: '', atMs: Date.now() };
    return this.#ratesOf(target, serving)?.rates;
  }

  /** What so much is likely to cost at a target as it is asked for, in nano-USD; undefined = no price is known. */
  estimate(target: Target, asked: Omit<Asked, 'writes'>): number | undefined {
    return this.#costOf(target, usageOf(asked.tokens), asked);
  }

  /** Of what is asked for the providers' tools that have no price, by their names in price lists. */
  unpricedTools(
    target: Target,
    asked: Pick<Asked, 'units' | 'tier' | 'region'>,
  ): readonly string[] | undefined {
    const known = this.#ratesOf(target, servingOf(target, asked));
    return known && unpricedTools(known.rates, asked.units);
  }

  #costOf(
    target: Target,
    tokens: ChatUsage,
    asked: Pick<Asked, 'units' | 'tier' | 'region'>,
  ): number | undefined {
    const counted = { tokens, units: asked.units };
    return this.price(target, counted, servingOf(target, asked))?.cost.totalNanoUsd;
  }

  /** The same, at most: another tier may be served as the standard one is, and all that goes in may be cached. */
  estimateMost(target: Target, { tokens, units, tier, region, writes }: Asked): number | undefined {
    const plain = usageOf(tokens);
    let most: number | undefined;
    for (const served of tier === '' || tier === 'standard' ? [''] : [tier, ''])
      for (const counts of writes === undefined ? [plain] : [plain, writtenOf(plain, writes)]) {
        const cost = this.#costOf(target, counts, { units, tier: served, region });
        if (cost !== undefined) most = Math.max(most ?? 0, cost);
      }
    return most;
  }

  #ratesOf(target: Priced, serving: Serving): KnownRates | undefined {
    if (this.#count >= ratesMax || performance.now() - this.#emptiedAt > ratesTtlMs) this.forget();
    const payee = target.saved ?? target.entry;
    let known = this.#known.get(payee);
    if (known === undefined) {
      known = new Map();
      this.#known.set(payee, known);
    }
    const key = keyOf(target, serving);
    const rates = known.get(key);
    if (rates !== undefined || known.has(key)) return rates;
    const found = this.#lookUp(target, serving);
    known.set(key, found);
    this.#count += 1;
    return found;
  }

  #lookUp(target: Priced, serving: Serving): KnownRates | undefined {
    const { saved, entry, servedModel } = target;
    const custom = saved?.prices.get(servedModel);
    const multipliers = saved?.multipliers;
    const query = { provider: entry.id, ...serving, custom };
    const base = saved?.models.get(servedModel)?.baseModelSlug ?? '';
    const named = this.#book.lookUp({ ...query, multipliers });
    if (named !== undefined)
      return {
        rates: named,
        listed: multipliers === undefined ? undefined : this.#book.lookUp(query),
      };
    if (base === '' || serving.model !== servedModel) return undefined;
    // A model that was made of another costs what that does, where nobody says anything else.
    const rates = this.#book.lookUp({ ...query, model: base, multipliers });
    if (rates === undefined) return undefined;
    return {
      rates,
      listed: multipliers === undefined ? undefined : this.#book.lookUp({ ...query, model: base }),
    };
  }
}

/** The name alone for nearly every call: nothing is put together for it. */
function keyOf({ servedModel }: Priced, { model, tier, region, atMs }: Serving): string {
  const name =
    model === servedModel && region === '' && (tier === '' || tier === 'standard')
      ? model
      : `${servedModel}|${model}|${tier}|${region}`;
  // What was made long before it is billed has the prices of then, and calls of now never have those. Files say minutes.
  return Date.now() - atMs > ratesTtlMs ? `${name}|${Math.floor(atMs / 60_000)}` : name;
}
