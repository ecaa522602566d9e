import type { JsonObject } from '@sluice/contracts';
import type { Estimate } from '../exchange/reservation.ts';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import type { UseEstimates } from './estimate-use.ts';
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
    const { inputTokens, outputTokens, observedOutputTokens, units } = use;
    const tokens = { inputTokens, outputTokens };
    const cost = prices.estimate(target, tokens, units);
    const estimate: Estimate = {
      requests: 1,
      tokens: Math.max(1, inputTokens + outputTokens),
      costNanoUsd: Math.max(1, cost ?? 1),
      isUnpriced: cost === undefined,
    };
    if (observedOutputTokens === outputTokens) return estimate;
    const likely = { inputTokens, outputTokens: observedOutputTokens };
    const observed = {
      tokens: Math.max(1, inputTokens + observedOutputTokens),
      costNanoUsd: Math.max(1, prices.estimate(target, likely, units) ?? 1),
    };
    return { ...estimate, observed };
  };
}
