import type { PreparedCall } from '../exchange/prepared-call.ts';
import { bodyBytes } from '../exchange/subject.ts';
import { countsTokens } from './counts-tokens.ts';
import type { PriceList } from './price-list.ts';

/** In text of any kind, about. */
const bytesPerToken = 4;

/** What the prompt of a call takes, told from its bytes alone: each call asks, and few are ever lost. */
export function guessPrompt(prices: PriceList) {
  return (call: PreparedCall) => {
    if (!countsTokens(call)) return undefined;
    const inputTokens = Math.ceil(bodyBytes(call.requester.subject) / bytesPerToken);
    const costNanoUsd = prices.estimate(call.target, { inputTokens, outputTokens: 0 });
    return { inputTokens, costNanoUsd };
  };
}
