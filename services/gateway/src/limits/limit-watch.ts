import type { Counter } from '@sluice/engine';

/** Hears what limits come to, for metrics. */
export interface LimitWatch {
  refused(counter: Counter): void;
  /** A limit in shadow mode would have. */
  wouldRefuse(counter: Counter): void;
  /** A group has no counter of its own. */
  overflowed(): void;
}

/** What requests hold at the moment, the oldest first. */
export class OpenReservations {
  readonly #since = new Map<object, number>();

  add(holds: object): void {
    this.#since.set(holds, performance.now());
  }

  delete(holds: object): void {
    this.#since.delete(holds);
  }

  get count(): number {
    return this.#since.size;
  }

  /** How long the oldest has been held; 0 = none is. */
  get oldestMs(): number {
    const [oldest] = this.#since.values();
    return oldest === undefined ? 0 : performance.now() - oldest;
  }
}
