import { GatewayError } from '@sluice/errors';
import type { PlanStep } from './plan.ts';
import type { ResolvedTarget } from './resolved-target.ts';

/** What asking one target came to, retries included. */
export interface TargetResult {
  readonly status: number;
  /** A fault of the gateway's own: no other target can do better. */
  readonly stops: boolean;
}

/**
 * Walks a plan: yields the targets to ask one after the other, takes what each
 * came to, and returns the result that is the request's. Ends for every plan,
 * since each target is yielded at most once.
 * @throws GatewayError `config.no_route` when it reaches a conditional without a match
 */
export function* walkPlan<R extends TargetResult>(step: PlanStep): Generator<ResolvedTarget, R, R> {
  if (step.kind === 'target') return yield step.target;
  if (step.kind === 'refusal')
    throw new GatewayError('config.no_route', { message: step.message, field: step.path });
  let last: R | undefined;
  for (const option of step.steps) {
    last = yield* walkPlan<R>(option);
    if (last.stops || !movesOn(step.onStatusCodes, last.status)) return last;
  }
  if (last === undefined) throw new Error('a fallback without targets cannot be compiled');
  return last;
}

/** Whether an answer with this status asks for the next target. */
export function movesOn(onStatusCodes: ReadonlySet<number> | undefined, status: number): boolean {
  if (onStatusCodes !== undefined) return onStatusCodes.has(status);
  return status < 200 || status > 299;
}
