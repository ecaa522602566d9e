import { describeDecision, directConfig, walkPlan } from '@sluice/engine';
import { remainingHeaders } from '../../policies/refusal.ts';
import { letGo } from '../../routing/call-target.ts';
import { type PlanDeps, planRequest } from '../../routing/plan-request.ts';
import { type Visit, type VisitDeps, visitTarget } from '../../routing/visit-target.ts';
import type { Exchange, Reply, Stage } from '../exchange.ts';

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
      letGo(visit.reply);
      deps.metrics.fellBack();
    }
    return answer(exchange, step.value);
  };
}

function answer(exchange: Exchange, { reply, error }: Visit): Reply {
  if (reply === undefined) throw error ?? new Error('a visit ends in a reply or an error');
  if (exchange.limitStates.length > 0)
    Object.assign(reply.headers, remainingHeaders(exchange.limitStates, exchange.startedAtMs));
  return reply;
}
