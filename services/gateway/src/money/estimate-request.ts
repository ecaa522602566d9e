import type { JsonObject } from '@sluice/contracts';
import type { Estimate, Used } from '../exchange/reservation.ts';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { askedFor } from './asked-for.ts';
import type { UseEstimates } from './estimate-use.ts';
import type { EstimatedUse } from './estimated-use.ts';
import type { PriceList } from './price-list.ts';

/** What a request will use at most at one target, for its limits. */
export type EstimateRequest = (
  subject: ModelCall,
  target: Target,
  /** As the target gets it, before it is encoded. */
  json: JsonObject | undefined,
) => Estimate;

export function estimateRequest(estimates: UseEstimates, prices: PriceList): EstimateRequest {
  return (subject, target, json) => {
    const use = estimates.of(subject, target, json);
    const { inputTokens } = use;
    const units = use.units.most;
    const asked = askedFor(target, use, json);
    const cost = (outputTokens: number) =>
      prices.estimateMost(target, { ...asked, tokens: { inputTokens, outputTokens }, units });
    const tools = () => prices.unpricedTools(target, { ...asked, units });
    return new EstimateOfUse(use, cost, tools);
  };
}

/** Prices are looked up when they are asked for: most limits count no cost. */
class EstimateOfUse implements Estimate {
  readonly requests = 1;
  readonly tokens: number;
  readonly #use: EstimatedUse;
  readonly #costOf: (outputTokens: number) => number | undefined;
  readonly #toolsOf: () => readonly string[] | undefined;
  #cost: number | undefined;
  #isPriced = false;

  constructor(
    use: EstimatedUse,
    costOf: (outputTokens: number) => number | undefined,
    toolsOf: () => readonly string[] | undefined,
  ) {
    this.tokens = Math.max(1, use.inputTokens + use.outputTokens);
    this.#use = use;
    this.#costOf = costOf;
    this.#toolsOf = toolsOf;
  }

  get costNanoUsd(): number {
    return Math.max(1, this.#price() ?? 1);
  }

  get isUnpriced(): boolean {
    return this.#price() === undefined;
  }

  get unpricedTools(): readonly string[] | undefined {
    return this.#use.units.most === undefined ? undefined : this.#toolsOf();
  }

  get observed(): Used | undefined {
    const { inputTokens, outputTokens, observedOutputTokens } = this.#use;
    if (observedOutputTokens === outputTokens) return undefined;
    return {
      tokens: Math.max(1, inputTokens + observedOutputTokens),
      costNanoUsd: Math.max(1, this.#costOf(observedOutputTokens) ?? 1),
    };
  }

  #price(): number | undefined {
    if (!this.#isPriced) this.#cost = this.#costOf(this.#use.outputTokens);
    this.#isPriced = true;
    return this.#cost;
  }
}
