import { Chain, type Linked } from '../chain/chain.ts';

/** Who is told when its time is over. */
export interface Awaiting extends Linked<Awaiting> {
  /** Kept by its line: on the clock of `performance.now()`. */
  dueAt: number;
  onLate(): void;
}

/**
 * All that wait equally long, in the order in which they are due, with one timer for the first of them. A timer for
 * each call is begun, begun anew and ended in vain nearly always, and takes three times what a place here does.
 */
export class DeadlineLine {
  readonly #ms: number;
  readonly #isShared: boolean;
  readonly #waiting = new Chain<Awaiting>();
  #timer: NodeJS.Timeout | undefined;

  /** @param isShared others will come: its timer stays when nobody waits */
  constructor(ms: number, isShared: boolean) {
    this.#ms = Math.max(ms, 1);
    this.#isShared = isShared;
  }

  /** Of somebody who stands in no line. */
  add(item: Awaiting): void {
    item.dueAt = performance.now() + this.#ms;
    this.#waiting.add(item);
    this.#timer ??= this.#timerOf(this.#ms);
  }

  /** Nothing happens to who does not stand in it. */
  delete(item: Awaiting): void {
    this.#waiting.delete(item);
    if (this.#isShared) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Its time begins anew. */
  refresh(item: Awaiting): void {
    this.#waiting.delete(item);
    this.add(item);
  }

  #look(): void {
    const now = performance.now();
    let first = this.#waiting.oldest;
    // Who is told may come back, or bring others: they stand last, and this timer is not over before they do.
    for (; first !== undefined && first.dueAt <= now; first = this.#waiting.oldest) {
      this.#waiting.delete(first);
      first.onLate();
    }
    this.#timer = first === undefined ? undefined : this.#timerOf(first.dueAt - now);
  }

  /** What is waited for keeps the process; a line does not. */
  #timerOf(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), Math.ceil(ms)).unref();
  }
}

/** Settings have few; callers may name any, which then have a line of their own. */
const sharedMax = 16;
const shared = new Map<number, DeadlineLine>();

/** Where who waits so many ms stands. */
export function deadlineLine(ms: number): DeadlineLine {
  const known = shared.get(ms);
  if (known !== undefined) return known;
  if (shared.size >= sharedMax) return new DeadlineLine(ms, false);
  const line = new DeadlineLine(ms, true);
  shared.set(ms, line);
  return line;
}
