import type { PlanStep, RoutePlan } from './plan.ts';

/** One target of a plan, for people: what is asked after it, and why it is there. */
export interface PlannedVisit {
  /** Of the target, or of the conditional that has no way on. */
  readonly path: string;
  /** Reason of the strategy that put it here. */
  readonly reason: string;
  /** Set when reaching this place ends the request with this message. */
  readonly refusal?: string;
  /** What is asked next: the first entry whose codes hold; none = the answer is the request's. */
  readonly next: readonly NextVisit[];
}

export interface NextVisit {
  readonly path: string;
  readonly on: readonly number[] | 'not-2xx';
}

/** The targets in the order in which they would be asked if each answer asked for the next. */
export function flattenPlan(plan: RoutePlan): PlannedVisit[] {
  const reasons = new Map(plan.choices.map(({ path, reason }) => [path, reason]));
  const visits: PlannedVisit[] = [];
  const visit = (step: PlanStep, next: readonly NextVisit[]): void => {
    if (step.kind === 'target') {
      const { path } = step.target;
      visits.push({ path, reason: reasons.get(parentPath(path)) ?? 'only', next });
    } else if (step.kind === 'refusal') {
      visits.push({ path: step.path, reason: 'no-match', refusal: step.message, next: [] });
    } else {
      const on = step.onStatusCodes === undefined ? 'not-2xx' : [...step.onStatusCodes];
      for (const [index, option] of step.steps.entries()) {
        const following = step.steps[index + 1];
        visit(
          option,
          following === undefined ? next : [{ path: firstPath(following), on }, ...next],
        );
      }
    }
  };
  visit(plan.root, []);
  return visits;
}

function firstPath(step: PlanStep): string {
  if (step.kind === 'target') return step.target.path;
  const first = step.kind === 'fallback' ? step.steps[0] : undefined;
  return first === undefined ? step.path : firstPath(first);
}

function parentPath(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('.targets['), 0));
}
