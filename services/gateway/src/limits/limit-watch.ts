import type { Counter } from '@sluice/engine';
import { Chain, type Linked } from '../chain/chain.ts';

/** Hears what limits come to, for metrics. */
export interface LimitWatch {
  refused(counter: Counter): void;
  /** A limit in shadow mode would have. */
  wouldRefuse(counter: Counter): void;
  /** A group has no counter of its own. */
  overflowed(): void;
}

/** What one request holds. */
export interface OpenReservation extends Linked<OpenReservation> {
  /** `performance.now()` when it began to. */
  readonly heldSince: number;
}

/** What requests hold at the moment, the oldest first. */
export class OpenReservations {
  readonly #open = new Chain<OpenReservation>();

  add(holds: OpenReservation): void {
    this.#open.add(holds);
  }

  delete(holds: OpenReservation): void {
    this.#open.delete(holds);
  }

  get count(): number {
    return this.#open.size;
  }

  /** How long the oldest has been held; 0 = none is. */
  get oldestMs(): number {
    const { oldest } = this.#open;
    return oldest === undefined ? 0 : performance.now() - oldest.heldSince;
  }
}
