import type { Counter } from '@sluice/engine';
import type { CounterState } from '../exchange/limits.ts';

export type Reservation =
  | { admitted: true; states: CounterState[] }
  | { admitted: false; refusedBy: CounterState };

/**
 * Counts in fixed windows. `reserve` is all or nothing: a request refused by
 * one counter consumes none. Request counters are taken at once; token counters
 * only need something left, and get the real number by `settle`.
 */
export interface LimitStore {
  reserve(scope: string, counters: readonly Counter[]): Reservation | Promise<Reservation>;
  /** How far each counter is; takes nothing. One that nobody has used yet is whole. */
  peek(scope: string, counters: readonly Counter[]): CounterState[] | Promise<CounterState[]>;
  /** Adds tokens after the reply. Never throws, never waits for the caller. */
  settle(scope: string, counters: readonly Counter[], tokens: number): void;
  close(): Promise<void>;
}
