import { describeDecision, directConfig, walkPlan } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { stopOf } from '../../calls/request-bounds.ts';
import { letGo } from '../../calls/retry-loop.ts';
import type { Exchange, Reply, Stage } from '../../exchange/exchange.ts';
import { remainingHeaders } from '../../limits/refusal.ts';
import { type PlanDeps, planRequest } from '../../routing/plan-request.ts';
import { type Visit, type VisitDeps, visitTarget } from '../../visit/visit-target.ts';

export interface RouteDeps extends VisitDeps {
  plan: PlanDeps;
}

/** Innermost: plans all choices, then asks the plan's targets one after the other. */
export function routeToTarget(deps: RouteDeps): Stage {
  return async (exchange) => {
    exchange.isRouting = true;
    const planning = planRequest(exchange, deps.plan);
    const plan = planning instanceof Promise ? await planning : planning;
    exchange.decisionJson = describeDecision(
      exchange.config?.compiled ?? directConfig,
      plan,
      exchange.prompt,
    );
    const walk = walkPlan<Visit>(plan.root);
    let step = walk.next();
    while (step.done !== true) {
      const visit = await visitTarget(exchange, step.value, deps);
      step = walk.next(visit);
      if (step.done === true) break;
      exchange.stoppedBy = stopOf(exchange, deps.bounds);
      if (exchange.stoppedBy !== undefined) {
        await noteStop(exchange, step.value.path, deps);
        return answer(exchange, visit);
      }
      letGo(visit.reply);
      deps.metrics.fellBack();
    }
    if (exchange.stoppedBy !== undefined) await noteStop(exchange, lastPath(exchange), deps);
    return answer(exchange, step.value);
  };
}

/** The bounds ended the request: a record says so at the target that would have come next. */
async function noteStop(exchange: Exchange, path: string, deps: RouteDeps): Promise<void> {
  exchange.refusals++;
  const { attemptsMax, routingTimeoutMs } = deps.bounds;
  const error = new GatewayError('gateway.attempts_spent', {
    detail: { stopped_by: exchange.stoppedBy, attemptsMax, routingTimeoutMs },
  });
  await deps.recorder.refuse(exchange, error, { path, target: undefined }).catch(() => {
    // The disk refuses; what was tried is recorded, and the header says the rest.
  });
}

function lastPath(exchange: Exchange): string {
  return exchange.target?.path ?? '';
}

const stoppedHeader = 'x-service-routing-stopped';

function answer(exchange: Exchange, { reply, error }: Visit): Reply {
  if (reply === undefined) throw withStop(exchange, error);
  if (exchange.stoppedBy !== undefined) reply.headers[stoppedHeader] = exchange.stoppedBy;
  if (exchange.limitStates.length > 0)
    Object.assign(reply.headers, remainingHeaders(exchange.limitStates, exchange.startedAtMs));
  return reply;
}

/** The last error, which also says that no more was tried. */
function withStop({ stoppedBy }: Exchange, error: GatewayError | undefined): Error {
  if (error === undefined) return new Error('a visit ends in a reply or an error');
  if (stoppedBy === undefined) return error;
  return new GatewayError(error.code, {
    ...error,
    message: error.message,
    cause: error.cause,
    headers: { ...error.headers, [stoppedHeader]: stoppedBy },
  });
}
