import { noUsage } from '@sluice/contracts';
import { shapeParams } from '@sluice/engine';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import type { UseEstimates } from './estimate-use.ts';
import type { PriceList } from './price-list.ts';

/** What a request is likely to use at a target, and within what that lies: nobody is asked, nothing held. */
export function likelyUse(
  subject: ModelCall,
  target: Target,
  { estimates, prices }: { estimates: UseEstimates; prices: PriceList },
) {
  const { json = {} } = subject;
  const use = estimates.of(subject, target, shapeParams(target.planned, json) ?? json);
  const priced = (tokens: { inputTokens: number; outputTokens: number }) => ({
    ...tokens,
    costNanoUsd: prices.estimate(target, tokens, use.units),
  });
  const serving = { model: target.servedModel, tier: '', region: '', atMs: Date.now() };
  const price = prices.price(target, { tokens: noUsage, units: use.units }, serving);
  const { inputTokens, outputTokens, expected } = use;
  return {
    ...priced(expected),
    low: priced({ inputTokens: expected.inputTokens, outputTokens: 0 }),
    high: priced({ inputTokens, outputTokens }),
    price: price === undefined ? undefined : { layer: price.layer, version: price.version },
  };
}
