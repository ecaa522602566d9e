import { lookAgain } from '../../held/look-again.ts';
import type { NewerBundles } from '../../held/newer-bundles.ts';
import type { Step } from '../step.ts';
import type { TargetVisit } from '../target-visit.ts';
import { resolveTarget as resolve } from '../targets/resolve-target.ts';

export interface ResolveTargetParts {
  newer: Pick<NewerBundles, 'after'>;
}

/** Who is asked, as whom and where, for which model. Waits only for a provider that nobody here knows. */
export function resolveTarget({ newer }: ResolveTargetParts): Step {
  return {
    run(visit, next) {
      try {
        find(visit);
      } catch (error) {
        return lookAgain(visit.exchange, newer, error, () => find(visit)).then(() => next(visit));
      }
      return next(visit);
    },
    judge(visit) {
      try {
        find(visit);
      } catch (error) {
        return lookAgain(visit.exchange, newer, error, () => find(visit));
      }
    },
  };
}

function find(visit: TargetVisit): void {
  visit.target = resolve(visit.exchange, visit.planned);
}
