/** So far may the time of day be from what it should be before it is doubted. */
const doubtMs = 1000;
/** A step that lasts so long is believed. */
const believedAfterMs = 60_000;

/**
 * The time of day as counters need it. A clock that jumps for a moment – a day
 * ahead, and back – must neither open windows anew nor close them for a day: it
 * is believed when it has been there for a minute, and until then time goes on
 * as it went before. It never goes back by less than such a step.
 */
export class SteadyClock {
  readonly #wall: () => number;
  readonly #running: () => number;
  /** Add to the running time to get the time of day. */
  #offsetMs: number;
  #doubtedSince: number | undefined;
  #lastMs: number;

  /** @param running goes on at the same pace whatever is done to the time of day */
  constructor(wall: () => number = Date.now, running: () => number = () => performance.now()) {
    this.#wall = wall;
    this.#running = running;
    this.#lastMs = wall();
    this.#offsetMs = this.#lastMs - running();
  }

  now = (): number => {
    const running = this.#running();
    const expected = running + this.#offsetMs;
    const wall = this.#wall();
    if (Math.abs(wall - expected) < doubtMs) {
      this.#doubtedSince = undefined;
      this.#offsetMs = wall - running;
      this.#lastMs = Math.max(this.#lastMs, wall);
      return this.#lastMs;
    }
    this.#doubtedSince ??= running;
    if (running - this.#doubtedSince >= believedAfterMs) {
      this.#doubtedSince = undefined;
      this.#offsetMs = wall - running;
      this.#lastMs = wall;
      return wall;
    }
    this.#lastMs = Math.max(this.#lastMs, Math.floor(expected));
    return this.#lastMs;
  };
}
