import type { Counter } from '@sluice/engine';
import { Chain, type Linked } from '../chain/chain.ts';
import type { CounterState } from '../exchange/reservation.ts';
import type { CounterPlace } from './counter-places.ts';
import { type Hold, leftOf, type Want } from './limit-store.ts';
import type { IntegerWords } from './read-words.ts';

/** What all that one request takes at once has in common. */
interface Taking {
  readonly id: string;
  readonly scope: string;
  readonly mark: string;
  /** When the counters were as they are told, Unix µs by the clock of Redis. */
  readonly countedAtUs: number;
  /** By the same clock, as it is known here. */
  readonly nowMs: number;
  /** Of those nothing is used beyond what is held. */
  readonly isLease: boolean;
}

/** What was taken of a shared counter; in the chain of those that are held until it is ended. */
export class SharedHold implements Hold, Linked<SharedHold> {
  readonly id: string;
  readonly scope: string;
  /** Of the counters that it was taken of; another by now = Redis has lost them. */
  readonly mark: string;
  readonly counter: Counter;
  readonly epoch: CounterState['epoch'];
  readonly name: string;
  readonly posted: number;
  readonly pending: number;
  readonly overshoot: number;
  readonly countedAtUs: number;
  readonly remaining: number;
  readonly resetAtMs: number;
  readonly held: number;
  readonly short: number;
  readonly wouldRefuse: boolean;
  readonly isOverflow: boolean;
  readonly alone = undefined;
  /** Its hash and its set as they are sent, where both are known. */
  readonly wire: string | undefined;
  /** When others were last told that its owner is here. */
  saidAtMs: number;
  older: SharedHold | undefined = undefined;
  newer: SharedHold | undefined = undefined;

  /** @param told five words of it: posted, held, over, taken, bits */
  constructor(
    { id, scope, mark, countedAtUs, nowMs, isLease }: Taking,
    { counter, amount }: Want,
    place: CounterPlace,
    told: IntegerWords,
  ) {
    this.id = id;
    this.scope = scope;
    this.mark = mark;
    this.counter = counter;
    this.epoch = place.epoch;
    this.resetAtMs = place.epoch.endMs;
    this.posted = told.next();
    this.pending = told.next();
    this.overshoot = told.next();
    this.countedAtUs = countedAtUs;
    this.held = told.next();
    const bits = told.next();
    this.remaining = Math.max(0, leftOf(counter.limit.value, this));
    this.short = isLease ? 0 : amount - this.held;
    this.wouldRefuse = (bits & 2) !== 0;
    this.isOverflow = (bits & 1) !== 0;
    this.name = this.isOverflow ? place.sharedName : place.name;
    this.wire = this.isOverflow || counter.limit.type === 'requests' ? undefined : place.keys.wire;
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
