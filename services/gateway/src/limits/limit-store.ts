import type { Counter } from '@sluice/engine';
import type { CounterState, Estimate, Reservation } from '../exchange/reservation.ts';

export type ReserveOutcome =
  | (Reservation & { admitted: true })
  | { admitted: false; refusedBy: CounterState };

/** A request is counted at once, and its tokens when they are known. */
export const oneRequest: Estimate = { requests: 1, tokens: 0 };

/**
 * Counts in fixed windows. `reserve` is all or nothing: a request refused by
 * one counter consumes none. Each counter must have room for its part of the
 * estimate, and for one at least; the reservation settles the real number.
 */
export interface LimitStore {
  reserve(
    scope: string,
    counters: readonly Counter[],
    estimate?: Estimate,
  ): ReserveOutcome | Promise<ReserveOutcome>;
  /** How far each counter is; takes nothing. One that nobody has used yet is whole. */
  peek(scope: string, counters: readonly Counter[]): CounterState[] | Promise<CounterState[]>;
  close(): Promise<void>;
}
