import type { AttemptListener, EndedAttempt, OutcomeListener } from '../exchange/attempt.ts';
import type { Used } from '../exchange/reservation.ts';

const settle: OutcomeListener = (ended) => {
  const { reservation, requester } = ended.call;
  const used = usedBy(ended);
  if (reservation === undefined) {
    if (used !== undefined) requester.limits?.post(used);
    return;
  }
  if (used !== undefined) reservation.post(used);
  reservation.finish();
};

/** Counts what an attempt used, with the limits of its request and its target. */
export const settleAttempt: AttemptListener = ({ call }) => {
  call.reservation?.begin();
  return settle;
};

function usedBy({ facts, price }: EndedAttempt): Used | undefined {
  const tokens = facts?.usage;
  if (tokens === undefined) return undefined;
  return {
    tokens: tokens.inputTokens + tokens.outputTokens,
    costNanoUsd: price?.cost.totalNanoUsd ?? 0,
  };
}
