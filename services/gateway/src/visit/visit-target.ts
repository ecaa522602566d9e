import type { ResolvedTarget } from '@sluice/engine';
import { fromUnknown } from '@sluice/errors';
import { endsRequest } from '../calls/retry-loop.ts';
import type { ContentKeeper } from '../content/content-keeper.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { addDroppedHeader } from './dropped-params.ts';
import { addGatewayHeaders } from './gateway-headers.ts';
import type { Ladder } from './ladder.ts';
import type { TargetAnswer } from './step.ts';
import { TargetVisit } from './target-visit.ts';
import { askedOf } from './targets/asked-of.ts';

export interface VisitParts {
  ladder: Ladder;
  recorder: UsageRecorder;
  /** Keeps what was asked and answered; undefined = nobody does. */
  content: ContentKeeper | undefined;
}

/**
 * Asks one target of the plan. Never throws; what is refused before any call
 * leaves a record of its own.
 */
export async function visitTarget(
  request: ModelExchange,
  planned: ResolvedTarget,
  { ladder, recorder, content }: VisitParts,
): Promise<TargetAnswer> {
  const exchange = askedOf(request, planned);
  const visit = new TargetVisit(exchange, planned);
  exchange.visits.push(visit);
  try {
    const answer = await ladder.climb(visit);
    if (answer.reply !== undefined && visit.target !== undefined) {
      const { reply } = answer;
      if (visit.prepared !== undefined) addDroppedHeader(reply.headers, visit.prepared);
      addGatewayHeaders(reply, visit.target, visit);
    }
    return restored(visit, kept(visit, answer, content));
  } catch (caught) {
    const error = fromUnknown(caught);
    exchange.progress.refusals++;
    exchange.progress.tries++;
    await recorder.refuse(exchange, error, { path: planned.path, visit }).catch(() => {
      // The disk refuses; a refusal cost nothing, and the caller learns of it all the same.
    });
    const stops = endsRequest(error) || exchange.limits?.isRefused === true;
    return kept(visit, { status: error.status, stops, reply: undefined, error }, content);
  }
}

/** Behind all who keep answers, and once for those that others go on with. */
function restored(visit: TargetVisit, answer: TargetAnswer): TargetAnswer {
  const { hooks, exchange } = visit;
  if (hooks?.restores !== true || answer.reply === undefined) return answer;
  if (exchange.recovery?.isAsking === true) return answer;
  return { ...answer, reply: hooks.restore(answer.reply, visit.prepared) };
}

function kept(visit: TargetVisit, answer: TargetAnswer, content: ContentKeeper | undefined) {
  if (content === undefined) return answer;
  const { reply, error } = answer;
  if (reply !== undefined) return { ...answer, reply: content.keepReply(visit, reply) };
  if (error !== undefined) content.keepError(visit, error);
  return answer;
}
