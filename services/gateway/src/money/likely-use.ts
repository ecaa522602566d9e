import { noUsage } from '@sluice/contracts';
import { shapeParams } from '@sluice/engine';
import type { ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { askedFor } from './asked-for.ts';
import type { UseEstimates } from './estimate-use.ts';
import { type Asked, type PriceList, servingOf } from './price-list.ts';

/** What a request is likely to use at a target, and within what that lies: nobody is asked, nothing held. */
export function likelyUse(
  subject: ModelCall,
  target: Target,
  { estimates, prices }: { estimates: UseEstimates; prices: PriceList },
) {
  const { json = {} } = subject;
  const shaped = shapeParams(target.planned, json) ?? json;
  const use = estimates.of(subject, target, shaped);
  const { inputTokens, outputTokens, expected } = use;
  const asked = askedFor(target, use, shaped);
  const priced = (tokens: Asked['tokens'], units: Asked['units']) => ({
    ...tokens,
    costNanoUsd: prices.estimate(target, { ...asked, tokens, units }),
  });
  const most = { inputTokens, outputTokens };
  const { units } = use;
  const counted = { tokens: noUsage, units: units.most };
  const price = prices.price(target, counted, servingOf(target, asked));
  return {
    ...priced(expected, units.expected),
    low: priced({ inputTokens: expected.inputTokens, outputTokens: 0 }, units.least),
    // As limits hold it.
    high: {
      ...most,
      costNanoUsd: prices.estimateMost(target, { ...asked, tokens: most, units: units.most }),
    },
    price: price === undefined ? undefined : { layer: price.layer, version: price.version },
    unpricedUnits: price?.unpriced ?? none,
  };
}

const none: readonly string[] = [];
