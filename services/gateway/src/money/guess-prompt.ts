import { type PreparedCall, sentBytes } from '../exchange/prepared-call.ts';
import { askedRegion, askedTier } from './asked-for.ts';
import { countsTokens } from './counts-tokens.ts';
import type { PriceList } from './price-list.ts';

/** In text of any kind, about. */
const bytesPerToken = 4;

/** What the prompt of a call takes, told from its bytes alone: each call asks, and few are ever lost. */
export function guessPrompt(prices: PriceList) {
  return (call: PreparedCall) => {
    if (!countsTokens(call)) return undefined;
    const inputTokens = Math.ceil(sentBytes(call) / bytesPerToken);
    const tokens = { inputTokens, outputTokens: 0 };
    const { request } = call.context;
    const asked = { tier: askedTier(request), region: askedRegion(request) };
    const costNanoUsd = prices.estimate(call.target, { tokens, ...asked });
    return { inputTokens, costNanoUsd };
  };
}
