import { type CallParts, callTarget, endsRequest } from '../../calls/retry-loop.ts';
import { canResend } from '../../exchange/prepared-call.ts';
import { hedgeKeyOf, lessonOf } from '../../routing/learn.ts';
import type { Step } from '../step.ts';
import { callOf, targetOf } from '../target-visit.ts';

export type { CallParts } from '../../calls/retry-loop.ts';

/** Calls the provider, as often as the target's rules say. */
export function call(parts: CallParts): Step {
  return {
    async run(visit) {
      const { exchange, planned } = visit;
      const prepared = callOf(visit);
      prepared.lesson = lessonOf(exchange, targetOf(visit));
      if (planned.hedge !== undefined) prepared.hedgeKey = hedgeKeyOf(exchange, targetOf(visit));
      const { reply, error, status } = await callTarget(prepared, parts);
      return { status, stops: endsRequest(error) || !canResend(prepared), reply, error };
    },
  };
}
