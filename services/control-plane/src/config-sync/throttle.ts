/** Does something at once, and, however often it is asked for, again only so much later. */
export class Throttle {
  readonly #everyMs: () => number;
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isAsked = false;

  /** @param everyMs asked each time that it is done */
  constructor(everyMs: () => number, work: () => void) {
    this.#everyMs = everyMs;
    this.#work = work;
  }

  ask(): void {
    this.#isAsked = true;
    if (this.#timer === undefined) this.#run();
  }

  #run(): void {
    this.#timer = undefined;
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.#timer = setTimeout(() => this.#run(), this.#everyMs());
    this.#timer.unref();
    this.#work();
  }
}
