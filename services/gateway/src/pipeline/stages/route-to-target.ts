import { describeDecision, directConfig, walkPlan } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { stopOf } from '../../calls/request-bounds.ts';
import {
  type Exchange,
  expectModelCall,
  lastVisit,
  limitStatesOf,
} from '../../exchange/exchange.ts';
import type { Reply } from '../../exchange/reply.ts';
import { discard } from '../../exchange/reply.ts';
import { remainingHeaders } from '../../limits/refusal.ts';
import { type PlanDeps, planRequest } from '../../routing/plan-request.ts';
import { type TargetAnswer, type VisitDeps, visitTarget } from '../../visit/visit-target.ts';
import type { Stage } from '../pipeline.ts';

export interface RouteDeps extends VisitDeps {
  plan: PlanDeps;
}

/** Innermost: plans all choices, then asks the plan's targets one after the other. */
export function routeToTarget(deps: RouteDeps): Stage {
  return async (exchange) => {
    expectModelCall(exchange);
    exchange.isRouting = true;
    const planning = planRequest(exchange, deps.plan);
    const plan = planning instanceof Promise ? await planning : planning;
    exchange.decisionJson = describeDecision(
      exchange.config?.compiled ?? directConfig,
      plan,
      exchange.subject.prompt,
    );
    const walk = walkPlan<TargetAnswer>(plan.root);
    let step = walk.next();
    while (step.done !== true) {
      const visit = await visitTarget(exchange, step.value, deps);
      step = walk.next(visit);
      if (step.done === true) break;
      exchange.progress.stoppedBy = stopOf(
        exchange.progress,
        exchange.arrival.startedAt,
        deps.bounds,
      );
      if (exchange.progress.stoppedBy !== undefined) {
        await noteStop(exchange, step.value.path, deps);
        return answer(exchange, visit);
      }
      discard(visit.reply);
      deps.metrics.fellBack();
    }
    if (exchange.progress.stoppedBy !== undefined)
      await noteStop(exchange, lastPath(exchange), deps);
    return answer(exchange, step.value);
  };
}

/** The bounds ended the request: a record says so at the target that would have come next. */
async function noteStop(exchange: Exchange, path: string, deps: RouteDeps): Promise<void> {
  exchange.progress.refusals++;
  const { attemptsMax, routingTimeoutMs } = deps.bounds;
  const error = new GatewayError('gateway.attempts_spent', {
    detail: { stopped_by: exchange.progress.stoppedBy, attemptsMax, routingTimeoutMs },
  });
  await deps.recorder.refuse(exchange, error, { path, visit: undefined }).catch(() => {
    // The disk refuses; what was tried is recorded, and the header says the rest.
  });
}

function lastPath(exchange: Exchange): string {
  return lastVisit(exchange)?.planned.path ?? '';
}

const stoppedHeader = 'x-service-routing-stopped';

function answer(exchange: Exchange, { reply, error }: TargetAnswer): Reply {
  if (reply === undefined) throw withStop(exchange, error);
  if (exchange.progress.stoppedBy !== undefined)
    reply.headers[stoppedHeader] = exchange.progress.stoppedBy;
  const states = limitStatesOf(exchange);
  if (states.length > 0)
    Object.assign(reply.headers, remainingHeaders(states, exchange.arrival.startedAtMs));
  return reply;
}

/** The last error, which also says that no more was tried. */
function withStop({ progress: { stoppedBy } }: Exchange, error: GatewayError | undefined): Error {
  if (error === undefined) return new Error('a visit ends in a reply or an error');
  if (stoppedBy === undefined) return error;
  return new GatewayError(error.code, {
    ...error,
    message: error.message,
    cause: error.cause,
    headers: { ...error.headers, [stoppedHeader]: stoppedBy },
  });
}
