import type { Step } from '../step.ts';
import { resolveTarget as resolve } from '../target/resolve-target.ts';
import type { TargetVisit } from '../target-visit.ts';

/** Who is asked, as whom and where, for which model. */
export const resolveTarget: Step = {
  run(visit, next) {
    find(visit);
    return next(visit);
  },
  judge: find,
};

function find(visit: TargetVisit): void {
  visit.target = resolve(visit.exchange, visit.planned);
}
