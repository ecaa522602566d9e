import { GatewayError } from '@sluice/errors';
import { dollars, unpricedText } from '../../limits/refusal.ts';
import type { Step } from '../step.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';
import type { ReserveParts } from './reserve.ts';

/** A target at which the request may cost more than its caller allows, with what its calls cost so far. */
export function refuseDear({ estimate }: ReserveParts): Step {
  const judge = (visit: TargetVisit) => {
    const { arrival, subject, progress } = visit.exchange;
    const { maxCostNanoUsd } = arrival.caller;
    if (maxCostNanoUsd === undefined) return;
    const target = targetOf(visit);
    const estimated = estimate(subject, target, visit.shaped ?? subject.json);
    const { costNanoUsd, isUnpriced } = estimated;
    progress.maxCostNanoUsd = maxCostNanoUsd;
    progress.callNanoUsd = costNanoUsd;
    const tools = unpricedText(estimated);
    if (isUnpriced !== true && tools === undefined && progress.affords(1)) return;
    const most =
      isUnpriced === true
        ? 'an unknown sum'
        : tools === undefined
          ? `up to $${dollars(costNanoUsd)}`
          : `what nobody knows (no price is known of ${tools})`;
    const spent = progress.spentNanoUsd;
    const before = spent === 0 ? '' : ` beside the $${dollars(spent)} spent`;
    throw new GatewayError('limit.max_cost', {
      field: 'x-service-max-cost',
      message: `The request may cost ${most} at ${target.saved?.slug ?? target.entry.id}${before}, and x-service-max-cost allows $${dollars(maxCostNanoUsd)}.`,
    });
  };
  return {
    run(visit, next) {
      judge(visit);
      return next(visit);
    },
    judge,
  };
}
