import type { Step } from '../step.ts';
import { callOf } from '../target-visit.ts';

/** Gives the cache what was answered, as far as it may be kept. */
export const fillCache: Step = {
  isNeeded: ({ cache }) => cache !== undefined,
  async run(visit, next) {
    const { fill } = visit;
    if (fill === undefined) return next(visit);
    // Where answers are checked, the checks hand on what passed.
    callOf(visit).inspect ??= async (body) => {
      if (body !== undefined && !visit.isAdapted) fill.keepBody(body, 'application/json');
      return undefined;
    };
    const answer = await next(visit);
    const { reply } = answer;
    if (reply?.kind !== 'stream' || reply.status !== 200 || visit.isAdapted) return answer;
    // The checks of a stream come after it and can refuse nothing: it must not pass for a checked answer.
    if (visit.hooks?.checksOutput === true) return answer;
    return { ...answer, reply: fill.keepStream(reply, reply.wasWhole) };
  },
};
