import type { TargetFacts } from '@sluice/engine';
import type { Reservation } from '../../exchange/reservation.ts';
import type { Target } from '../../exchange/target.ts';
import { limitRefusal } from '../../limits/refusal.ts';
import type { Rung, Step, TargetAnswer } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

/** Limits of the provider, and policies on provider or model. */
export const reserve: Step = {
  run(visit, next) {
    const target = targetOf(visit);
    const reserved = visit.exchange.limits?.reserveTarget(factsOf(target), target.saved);
    if (reserved instanceof Promise) return reserveAndGo(visit, reserved, next);
    if (reserved !== undefined) note(visit, reserved);
    return next(visit);
  },
  async judge(visit) {
    const target = targetOf(visit);
    const checks = await visit.exchange.limits?.peekTarget(factsOf(target), target.saved);
    visit.limitChecks = checks ?? [];
    const refusal = limitRefusal(visit.limitChecks);
    if (refusal !== undefined) throw refusal;
  },
};

async function reserveAndGo(
  visit: TargetVisit,
  reserving: Promise<Reservation>,
  next: Rung,
): Promise<TargetAnswer> {
  note(visit, await reserving);
  return next(visit);
}

function note(visit: TargetVisit, reservation: Reservation): void {
  visit.limitStates = reservation.states;
  callOf(visit).reservation = reservation;
}

function factsOf({ entry, saved, servedModel }: Target): TargetFacts {
  return {
    provider: entry.id,
    providerSlug: saved?.slug,
    // A counter is kept for each: its name must have a bound.
    model: servedModel === '' ? undefined : servedModel.slice(0, 1024),
  };
}
