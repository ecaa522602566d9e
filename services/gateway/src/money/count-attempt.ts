import type { AttemptListener, EndedAttempt, OutcomeListener } from '../exchange/prepared-call.ts';
import type { Used } from '../exchange/reservation.ts';
import { askedFor } from './asked-for.ts';
import { estimateOfCall } from './estimate-of-call.ts';
import type { UseEstimates } from './estimate-use.ts';
import type { PriceList } from './price-list.ts';

/** Counts what an attempt used, with the limits of its request and its target: before its record, which says so. */
export function countAttempt(estimates: UseEstimates, prices: PriceList): AttemptListener {
  const count: OutcomeListener = (ended) => {
    const { reservation, requester } = ended.call;
    const used = countedOf(ended, estimates, prices);
    if (used === undefined) return;
    requester.progress.spentNanoUsd += used.costNanoUsd;
    if (reservation === undefined) requester.limits?.post(used);
    else reservation.post(used);
  };
  return () => count;
}

/**
 * What counts of a bill. Whoever answers at an address of the caller's own choice
 * uses up limits that others share by no more than what is estimated.
 */
function countedOf(
  { bill, price, call }: EndedAttempt,
  estimates: UseEstimates,
  prices: PriceList,
): Used | undefined {
  const usage = bill?.facts.usage;
  const costNanoUsd = price?.cost.totalNanoUsd ?? 0;
  const tokens = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
  if (tokens === 0 && costNanoUsd === 0) return undefined;
  if (call.addressBy !== 'caller') return { tokens, costNanoUsd };
  const { target, context } = call;
  const use = estimateOfCall(call, estimates);
  const { inputTokens, outputTokens, units } = use;
  const most = { inputTokens, outputTokens };
  const asked = {
    ...askedFor(target, use, context.request),
    tokens: most,
    units: units.most,
  };
  return {
    tokens: Math.min(tokens, inputTokens + outputTokens),
    costNanoUsd: Math.min(costNanoUsd, prices.estimateMost(target, asked) ?? 0),
  };
}
