import type { Counter } from '@sluice/engine';
import { Chain, type Linked } from '../chain/chain.ts';
import type { CounterState } from '../exchange/reservation.ts';
import { type Counted, type Hold, leftOf } from './limit-store.ts';

/** What was taken of a shared counter; in the chain of those that are held until it is ended. */
export class SharedHold implements Hold, Linked<SharedHold> {
  readonly id: string;
  readonly scope: string;
  readonly counter: Counter;
  readonly epoch: CounterState['epoch'];
  readonly name: string;
  readonly posted: number;
  readonly pending: number;
  readonly overshoot: number;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly held: number;
  readonly short: number;
  readonly wouldRefuse: boolean;
  readonly isOverflow: boolean;
  readonly alone = undefined;
  /** When others were last told that its owner is here. */
  saidAtMs: number;
  older: SharedHold | undefined = undefined;
  newer: SharedHold | undefined = undefined;

  constructor(
    id: string,
    scope: string,
    counter: Counter,
    epoch: CounterState['epoch'],
    name: string,
    counted: Counted,
    held: number,
    short: number,
    bits: number,
    nowMs: number,
  ) {
    this.id = id;
    this.scope = scope;
    this.counter = counter;
    this.epoch = epoch;
    this.name = name;
    this.posted = counted.posted;
    this.pending = counted.pending;
    this.overshoot = counted.overshoot;
    this.remaining = Math.max(0, leftOf(counter.limit.value, counted));
    this.resetAtMs = epoch.endMs;
    this.held = held;
    this.short = short;
    this.wouldRefuse = (bits & 2) !== 0;
    this.isOverflow = (bits & 1) !== 0;
    this.saidAtMs = nowMs;
  }
}

/** What is held of shared counters, and when that was last said. */
export class SharedHolds {
  readonly #chain = new Chain<SharedHold>();

  add(hold: SharedHold): void {
    this.#chain.add(hold);
  }

  /** What was taken alone is none of them. */
  delete(hold: Hold): void {
    if (hold instanceof SharedHold) this.#chain.delete(hold);
  }

  /** Those of which nothing was said for so long; they count as said now. */
  *due(afterMs: number, nowMs: number): Iterable<SharedHold> {
    for (const hold of this.#chain) {
      if (nowMs - hold.saidAtMs < afterMs) continue;
      hold.saidAtMs = nowMs;
      yield hold;
    }
  }

  /** Redis was emptied: what was held there is gone. */
  forget(scope: string): void {
    for (const hold of this.#chain) if (hold.scope === scope) this.#chain.delete(hold);
  }
}
