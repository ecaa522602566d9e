import { randomBytes } from 'node:crypto';
import type { Counter } from '@sluice/engine';
import type { CounterState, Estimate, Reservation } from '../exchange/reservation.ts';

/** The store behind a reservation. Neither throws nor waits. */
export interface ReservationKeeper {
  /** Adds tokens, in the windows of now. */
  count(scope: string, counters: readonly Counter[], tokens: number): void;
  /** Takes amounts back from the windows that end when the states say, where they still are. */
  giveBack(scope: string, states: readonly CounterState[], amounts: readonly number[]): void;
}

const ownPrefix = randomBytes(6).toString('hex');
let made = 0;

/** What a store took. What it says of itself is computed for those who ask: most are only settled. */
export class HeldReservation implements Reservation {
  readonly admitted = true;
  readonly states: readonly CounterState[];
  readonly counters: readonly Counter[];
  readonly #keeper: ReservationKeeper;
  readonly #scope: string;
  readonly #estimate: Estimate;
  readonly #number = ++made;
  #isHeld = true;

  constructor(
    keeper: ReservationKeeper,
    scope: string,
    counters: readonly Counter[],
    states: readonly CounterState[],
    estimate: Estimate,
  ) {
    this.#keeper = keeper;
    this.#scope = scope;
    this.counters = counters;
    this.states = states;
    this.#estimate = estimate;
  }

  get id(): string {
    return `${ownPrefix}-${this.#number}`;
  }

  get amounts(): number[] {
    return this.counters.map(({ type }) => (this.#isHeld ? this.#estimate[type] : 0));
  }

  get expiresAtMs(): number {
    return Math.max(...this.states.map(({ resetAtMs }) => resetAtMs));
  }

  settle({ tokens }: Pick<Estimate, 'tokens'>): void {
    if (this.#isHeld && this.#estimate.tokens > 0)
      this.#giveBack({ requests: 0, tokens: this.#estimate.tokens });
    this.#isHeld = false;
    if (tokens > 0) this.#keeper.count(this.#scope, this.counters, tokens);
  }

  release(): void {
    if (this.#isHeld) this.#giveBack(this.#estimate);
    this.#isHeld = false;
  }

  #giveBack(estimate: Estimate): void {
    const amounts = this.counters.map(({ type }) => estimate[type]);
    this.#keeper.giveBack(this.#scope, this.states, amounts);
  }
}
