import { shapedBody } from '../../calls/prepare/sent-body.ts';
import type { Step } from '../step.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';

/** The config's parameters: defaults, overrides, drops. */
export const shapeBody: Step = {
  run(visit, next) {
    shape(visit);
    return next(visit);
  },
  judge: shape,
};

function shape(visit: TargetVisit): void {
  visit.shaped = shapedBody(visit.exchange, targetOf(visit));
}
