/** Counts what somebody tries in a window of time, and says when it is enough. At this replica only: a brake, not an exact limit. */
export class Attempts {
  readonly #counts = new Map<string, { count: number; untilMs: number }>();
  readonly #max: number;
  readonly #windowMs: number;
  readonly #now: () => number;

  constructor(options: { max: number; windowMs: number; now: () => number }) {
    this.#max = options.max;
    this.#windowMs = options.windowMs;
    this.#now = options.now;
  }

  /** Seconds to wait; 0 = go on. */
  take(name: string): number {
    const now = this.#now();
    const held = this.#counts.get(name);
    if (held === undefined || held.untilMs <= now) {
      this.#counts.delete(name);
      if (this.#counts.size >= namesMax)
        this.#counts.delete(this.#counts.keys().next().value as string);
      this.#counts.set(name, { count: 1, untilMs: now + this.#windowMs });
      return 0;
    }
    held.count += 1;
    return held.count <= this.#max ? 0 : Math.ceil((held.untilMs - now) / 1000);
  }

  /** The last one was none that should count. */
  takeBack(name: string): void {
    const held = this.#counts.get(name);
    if (held !== undefined) held.count -= 1;
  }
}

const namesMax = 10_000;
