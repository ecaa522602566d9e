/** How many lines a batch may begin, and when. */
export interface PaceRules {
  /** Of a batch with time: so many lines each interval. */
  readonly linesPerInterval: number;
  readonly intervalMs: number;
}

/** Of the time that is left, what lines are spread over: the rest is for those that have to be tried again. */
const spread = 0.75;

/**
 * A batch with time begins some lines at a time, so that it takes what the limits of its key leave to others; as many as it
 * must to be done in time. One that is wanted at once has no pace: the limits are its only ones.
 */
export class Pace {
  readonly #rules: PaceRules;
  readonly #endsAtMs: number;
  #begunOf = 0;
  #intervalAtMs = Number.NEGATIVE_INFINITY;

  constructor(rules: PaceRules, endsAtMs: number) {
    this.#rules = rules;
    this.#endsAtMs = endsAtMs;
  }

  /** How long the next line has to wait, ms; 0 = it is begun with this. */
  take(linesLeft: number, nowMs: number): number {
    const { linesPerInterval, intervalMs } = this.#rules;
    if (nowMs - this.#intervalAtMs >= intervalMs) {
      this.#intervalAtMs = nowMs;
      this.#begunOf = 0;
    }
    const intervals = Math.max(1, ((this.#endsAtMs - nowMs) * spread) / intervalMs);
    const most = Math.max(linesPerInterval, Math.ceil(linesLeft / intervals));
    if (this.#begunOf >= most) return Math.max(1, this.#intervalAtMs + intervalMs - nowMs);
    this.#begunOf += 1;
    return 0;
  }
}
