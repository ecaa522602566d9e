import { sentBody } from '../../calls/prepare/sent-body.ts';
import type { Step } from '../step.ts';
import { targetOf } from '../target-visit.ts';

/** Where another target's stream broke off: the caller's request, with what the caller has got of the answer. */
export const askForRest: Step = {
  isNeeded: ({ recoversStreams }) => recoversStreams === true,
  run(visit, next) {
    const { exchange, shaped } = visit;
    const asked = sentBody(exchange, targetOf(visit), shaped);
    visit.shaped = exchange.recovery?.askForRest(asked) ?? shaped;
    return next(visit);
  },
};
