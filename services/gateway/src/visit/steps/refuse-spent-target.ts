import { limitError, limitRefusal } from '../../limits/refusal.ts';
import type { Step } from '../step.ts';
import { callOf } from '../target-visit.ts';

/** Limits of the provider, and policies on provider or model: what `reserve` has found of them. */
export const refuseSpentTarget: Step = {
  run(visit, next) {
    const { reservation } = visit;
    if (reservation?.refusedBy !== undefined) throw limitError(reservation.refusedBy, Date.now());
    callOf(visit).reservation = reservation;
    return next(visit);
  },
  judge(visit) {
    const refusal = limitRefusal(visit.limitVerdict?.ofTarget ?? []);
    if (refusal !== undefined) throw refusal;
  },
};
