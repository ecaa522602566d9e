import { limitError, limitRefusal } from '../../limits/refusal.ts';
import type { Step } from '../step.ts';
import { callOf, targetOf } from '../target-visit.ts';
import { limitFactsOf } from './reserve.ts';

/** Limits of the provider, and policies on provider or model: what `reserve` has found of them. */
export const refuseSpentTarget: Step = {
  run(visit, next) {
    const { reservation } = visit;
    if (reservation?.refusedBy !== undefined) throw limitError(reservation.refusedBy, Date.now());
    callOf(visit).reservation = reservation;
    return next(visit);
  },
  async judge(visit) {
    const target = targetOf(visit);
    const checks = await visit.exchange.limits?.peekTarget(limitFactsOf(target), target.saved);
    visit.limitChecks = checks ?? [];
    const refusal = limitRefusal(visit.limitChecks);
    if (refusal !== undefined) throw refusal;
  },
};
