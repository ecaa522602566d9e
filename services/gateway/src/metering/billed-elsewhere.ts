import type { TakenUse } from '../children/child-sums.ts';
import type { Children } from '../children/children.ts';
import type { EventRequester } from '../exchange/event-requester.ts';
import type { CallPrice } from '../money/call-price.ts';
import type { EventUse } from '../usage/record-event.ts';

/** What an agent reports is used, and may be billed already: with the calls that it made itself through a gateway. */
export interface BilledElsewhere {
  /** `children`: all of it is. `max`: as much as those calls came to. */
  readonly by: 'children' | 'max';
  /** Where its own calls are summed. */
  readonly sums: readonly string[];
  /** Nothing follows that they could be set against. */
  readonly isOver: boolean;
}

/** What is left to be billed of what an agent reports. The price of the call itself is due whatever its calls come to. */
export async function lessBilled(
  told: EventUse,
  { callNanoUsd }: CallPrice,
  { by, sums, isOver }: BilledElsewhere,
  requester: EventRequester,
  children: Children,
): Promise<EventUse> {
  const { inputTokens, outputTokens } = told;
  const costNanoUsd = Math.max(0, told.costNanoUsd - Math.round(callNanoUsd));
  const reported = { inputTokens, outputTokens, costNanoUsd };
  const taken: TakenUse =
    by === 'children'
      ? { ...reported, isPartial: false }
      : await children.take(requester, sums, reported, isOver);
  const tokensCost = told.inputCostNanoUsd + told.outputCostNanoUsd;
  const ofInput =
    tokensCost === 0
      ? 0
      : Math.min(
          told.inputCostNanoUsd,
          Math.round((taken.costNanoUsd * told.inputCostNanoUsd) / tokensCost),
        );
  return {
    ...told,
    inputTokens: inputTokens - taken.inputTokens,
    outputTokens: outputTokens - taken.outputTokens,
    costNanoUsd: told.costNanoUsd - taken.costNanoUsd,
    inputCostNanoUsd: told.inputCostNanoUsd - ofInput,
    outputCostNanoUsd: Math.max(0, told.outputCostNanoUsd - (taken.costNanoUsd - ofInput)),
    billing: JSON.stringify({
      by,
      reported: shown(reported),
      elsewhere: shown(taken),
      ...(taken.isPartial && { partial: true }),
    }),
  };
}

function shown(use: Pick<TakenUse, 'inputTokens' | 'outputTokens' | 'costNanoUsd'>) {
  return {
    input_tokens: use.inputTokens,
    output_tokens: use.outputTokens,
    cost_nano_usd: use.costNanoUsd,
  };
}
