import type { Step } from '../step.ts';
import { callOf } from '../target-visit.ts';

/** Hooks after the call: whole answers are checked before they are given, streams when they are over. */
export const checkOutput: Step = {
  isNeeded: ({ hooks }, isEnforced) => hooks !== undefined || isEnforced,
  async run(visit, next) {
    const { hooks, fill } = visit;
    if (hooks === undefined) return next(visit);
    const keep =
      fill === undefined
        ? undefined
        : (bytes: Buffer) => {
            if (!visit.isAdapted) fill.keepBody(bytes, 'application/json');
          };
    const call = callOf(visit);
    // What passes through is looked at for what is enforced, and tells no results.
    const isPassing = visit.exchange.subject.operation.body === 'raw';
    call.mustInspect = hooks.checksOutput || !isPassing;
    call.isJudged = hooks.holdsStream(call);
    call.inspect = (body, document) => hooks.inspect(body, document, keep);
    const answer = await next(visit);
    const { reply } = answer;
    const isUnchecked = reply?.kind === 'body' && reply.status !== 200 && reply.status !== 246;
    // A failure is looked at by nobody; what became of the input is told with it.
    if (isUnchecked && !isPassing && reply.isDenial !== true)
      return { ...answer, reply: hooks.onUncheckedBody(reply) };
    // The rest of an answer is heard by the checks of the target that began it.
    if (reply?.kind !== 'stream' || visit.exchange.recovery?.isAsking === true) return answer;
    return { ...answer, reply: hooks.onStream(reply, call) };
  },
};
