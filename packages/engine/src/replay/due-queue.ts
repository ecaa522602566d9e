/** What is to be counted, and when. */
export interface Due {
  readonly name: string;
  readonly amount: number;
  readonly atMs: number;
}

/** A heap: what is due first stands at the top. */
export class DueQueue {
  readonly #heap: Due[] = [];

  add(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (heap[above]!.atMs <= due.atMs) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = due;
  }

  /** Takes out what is due by then, the earliest first. */
  *until(atMs: number): Generator<Due> {
    const heap = this.#heap;
    for (let top = heap[0]; top !== undefined && top.atMs <= atMs; top = heap[0]) {
      yield top;
      const last = heap.pop()!;
      if (heap.length > 0) this.#sink(last);
    }
  }

  #sink(due: Due): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]!.atMs < heap[below]!.atMs) below++;
      if (heap[below]!.atMs >= due.atMs) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = due;
  }
}
