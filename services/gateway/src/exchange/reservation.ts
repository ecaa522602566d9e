import type { Counter } from '@sluice/engine';

/** How far a counter is after a check. */
export interface CounterState {
  counter: Counter;
  remaining: number;
  /** Unix ms at which the window ends. */
  resetAtMs: number;
}

/** What a request will use, as far as can be told before it is sent, in the units that counters have. */
export interface Estimate {
  readonly requests: number;
  readonly tokens: number;
}

/** What was taken for a request, or for one target of it, from all of the counters together. */
export interface Reservation {
  /** One of its own among all gateways. */
  readonly id: string;
  readonly counters: readonly Counter[];
  /** How far each counter is with it. */
  readonly states: readonly CounterState[];
  /** What of each counter is held until it is settled or released. */
  readonly amounts: readonly number[];
  /** Unix ms from which nothing of it is left: its windows have ended. */
  readonly expiresAtMs: number;
  /**
   * Counts what a call really used, in the windows of now; to be called for each
   * call. The first gives back what tokens were held. Never throws, never waits.
   */
  settle(actual: Pick<Estimate, 'tokens'>): void;
  /** Gives back all that is held: nothing was sent. Of no effect after `settle`. */
  release(): void;
}
