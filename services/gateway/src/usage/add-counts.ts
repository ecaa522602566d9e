import type { GatewayError } from '@sluice/errors';
import type { BegunRecord, Counts } from '@sluice/usage';
import type { Reservation } from '../exchange/reservation.ts';

/** What the limits of a request have counted of it since the record before, and what they said. */
export function addCounts(record: BegunRecord, reservation: Reservation | undefined): void {
  if (reservation === undefined) return;
  const { reserved, settled } = reservation.takeCounts();
  record.countersReserved = sum(record.countersReserved, reserved);
  record.countersSettled = sum(record.countersSettled, settled);
  noteJudgements(record, reservation);
}

/** How its limits were judged. */
export function noteJudgements(record: BegunRecord, { states }: Reservation): void {
  for (const { wouldRefuse, alone, name } of states) {
    if (alone !== undefined) record.limitsDegraded = true;
    if (wouldRefuse && !record.wouldHaveRefused.includes(name))
      record.wouldHaveRefused = [...record.wouldHaveRefused, name];
  }
}

/** The same of one that refused, as its error tells. */
export function noteRefusal(record: BegunRecord, { headers }: Pick<GatewayError, 'headers'>): void {
  if (headers?.['x-service-limits-degraded'] !== undefined) record.limitsDegraded = true;
}

function sum(before: Counts, more: Counts): Counts {
  if (before.size === 0) return more;
  const all = new Map(more);
  for (const [name, amount] of before) all.set(name, (all.get(name) ?? 0) + amount);
  return all;
}
