import type { Counter, Epoch } from '@sluice/engine';
import type { Counts } from '@sluice/usage';

/** What a request will use at most, as far as can be told before it is sent. Integers from 0. */
export interface Estimate {
  readonly requests: number;
  readonly tokens: number;
  readonly costNanoUsd: number;
  /** The same where answers come to what those of the model came to so far; absent = it is not known. */
  readonly observed?: Used | undefined;
  /** No price is known: its cost is not counted. */
  readonly isUnpriced?: boolean;
  /** Tools of the provider that it asks for and that have no price, by their names in price lists: not counted either. Absent = none. */
  readonly unpricedTools?: readonly string[];
}

/** Of a request of which no more is asked than that it is one. */
export const oneRequest: Estimate = Object.freeze({ requests: 1, tokens: 1, costNanoUsd: 1 });

/** What a call used. */
export type Used = Pick<Estimate, 'tokens' | 'costNanoUsd'>;

/** How a counter was judged without the counters that gateways share. */
export type AloneRule = 'share' | 'lease' | 'allow' | 'refuse';

/** How far a counter is, with what was taken by asking. */
export interface CounterState {
  readonly counter: Counter;
  readonly epoch: Epoch;
  /** As stores and usage records call it. */
  readonly name: string;
  /** Used for good. */
  readonly posted: number;
  /** Held by requests that are not over. */
  readonly pending: number;
  /** By how much more than the limit these may use. */
  readonly overshoot: number;
  /** Unix µs by the clock that all gateways count by; 0 = counted here alone. */
  readonly countedAtUs: number;
  /** Of the limit; never below 0. */
  readonly remaining: number;
  /** Unix ms; 0 = never. */
  readonly resetAtMs: number;
  /** What was taken. */
  readonly held: number;
  /** Of a limit in shadow mode: it would have refused. */
  readonly wouldRefuse: boolean;
  /** The group has no counter of its own. */
  readonly isOverflow: boolean;
  /** Undefined = by all that gateways know together. */
  readonly alone: AloneRule | undefined;
}

/** What a record tells of its attempt's counters, by their names. */
export interface CountsOfRecord {
  readonly reserved: Counts;
  readonly settled: Counts;
}

/** What a request holds of its limits and of those of the target that is asked. */
export interface Reservation {
  /** One of its own among all gateways. */
  readonly id: string;
  /** How far each counter is with it. */
  readonly states: readonly CounterState[];
  /** What refused the target; nothing of the target's is held then, and it must not be called. */
  readonly refusedBy: CounterState | undefined;
  /** A call of the target begins: until it is over, nothing that is held goes back. */
  begin(): void;
  /** Adds what one call used: to be called once for each, before it is over. Never waits, never throws. */
  post(actual: Used): void;
  /** A call is over. */
  finish(): void;
  /** Holds as much again, for a second call at the same time; false = there is nothing left for it. */
  extend(): Promise<boolean>;
  /**
   * For the usage record: what was held, and what was counted since this was
   * asked last, so that the sums over all records of a request are its counts.
   */
  takeCounts(): CountsOfRecord;
  /** What there would be to tell if a call that used so much were the last. */
  countsWith(used: Used): CountsOfRecord;
  /**
   * A call is to be noted that uses so much whatever becomes of it: what is to be
   * settled with it, should this process die. Undefined = nothing that others know of.
   */
  noteBegin(least: Used | undefined): SettlingNote | undefined;
  /** The same with its record, once for each call that was noted. */
  noteEnd(least: Used | undefined): SettlingNote | undefined;
}

/** What is to be settled of a request by another life of this gateway, should this one end before it has done so. */
export interface SettlingNote {
  /** Of the request's holds: a later note says more. */
  readonly key: string;
  readonly text: string;
}
