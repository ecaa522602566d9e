import type { JsonObject } from '@sluice/contracts';
import { nitroRefused } from '../../exchange/nitro-refused.ts';
import type { Estimate, Reservation } from '../../exchange/reservation.ts';
import type { ModelCall } from '../../exchange/subject.ts';
import { limitFactsOf, type Target } from '../../exchange/target.ts';
import type { Rung, Step, TargetAnswer } from '../step.ts';
import { type TargetVisit, targetOf } from '../target-visit.ts';

export interface ReserveParts {
  /** What a request to the target will use at most. */
  estimate: (subject: ModelCall, target: Target, json: JsonObject | undefined) => Estimate;
}

/**
 * Takes what the request needs of all its limits, of those of the target as
 * well, in one call, before anything is done that costs. Where only the target's
 * refuse, that is said later (`refuse-spent-target.ts`): a kept answer uses
 * nothing of the target's.
 */
export function reserve({ estimate }: ReserveParts): Step {
  // Asked for where tokens or money are limited, before anything is taken.
  const estimateOf = (visit: TargetVisit, target: Target) => {
    const { subject } = visit.exchange;
    if (subject.isUnread === true)
      throw nitroRefused('body', 'a limit or a budget counts what it may use');
    return estimate(subject, target, visit.shaped ?? subject.json);
  };
  return {
    run(visit, next) {
      const { limits } = visit.exchange;
      if (limits === undefined) return next(visit);
      const startedAt = performance.now();
      const target = targetOf(visit);
      const facts = limitFactsOf(target);
      const reserved = limits.reserve(facts, target.saved, () => estimateOf(visit, target));
      if (reserved instanceof Promise) return reserveAndGo(visit, reserved, startedAt, next);
      note(visit, reserved, startedAt);
      return next(visit);
    },
    async judge(visit) {
      const target = targetOf(visit);
      visit.limitVerdict = await visit.exchange.limits?.judge(
        limitFactsOf(target),
        target.saved,
        () => estimateOf(visit, target),
      );
      const refusal = visit.limitVerdict?.refusal;
      if (refusal !== undefined) throw refusal;
    },
  };
}

async function reserveAndGo(
  visit: TargetVisit,
  reserving: Promise<Reservation | undefined>,
  startedAt: number,
  next: Rung,
): Promise<TargetAnswer> {
  note(visit, await reserving, startedAt);
  return next(visit);
}

function note(visit: TargetVisit, reservation: Reservation | undefined, startedAt: number): void {
  visit.exchange.progress.limitsMs += performance.now() - startedAt;
  if (reservation === undefined) return;
  visit.reservation = reservation;
  visit.limitStates = reservation.states;
}
