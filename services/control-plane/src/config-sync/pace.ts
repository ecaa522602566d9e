/**
 * Lets one begin after the other, so far apart. After a restart, or a lost
 * connection to Postgres, all gateways are there at once and have something to
 * ask: with so much of a pause between them the admin API gets its turns.
 */
export class Pace {
  readonly #everyMs: number;
  #nextAt = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Calls back at once where nobody has begun just before; what it returns keeps it from calling. */
  begin(work: () => void): () => void {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#everyMs;
    if (at === now) {
      work();
      return () => {};
    }
    const timer = setTimeout(work, at - now);
    return () => clearTimeout(timer);
  }
}
