import type { PlanStep } from './plan.ts';
import type { ResolvedTarget } from './resolved-target.ts';

/**
 * The targets that a plan would have asked had this one not answered, whatever
 * status codes its fallbacks wait for: an answer that broke off has none.
 */
export function targetsAfter(root: PlanStep, target: ResolvedTarget): ResolvedTarget[] {
  const targets = targetsOf(root);
  const at = targets.indexOf(target);
  return at === -1 ? [] : targets.slice(at + 1);
}

/** In the order in which they are asked; a way that leads nowhere has none. */
function targetsOf(step: PlanStep): ResolvedTarget[] {
  if (step.kind === 'target') return [step.target];
  return step.kind === 'fallback' ? step.steps.flatMap(targetsOf) : [];
}
