import type { OutcomeListener } from '../exchange/attempt.ts';

const settle: OutcomeListener = ({ call, facts }) => {
  const tokens = facts?.usage;
  if (tokens !== undefined)
    call.requester.limits?.settle(call.reservation, {
      tokens: tokens.inputTokens + tokens.outputTokens,
    });
};

/** Counts the tokens of an attempt, with the limits of its request and its target. */
export const settleAttempt = () => settle;
