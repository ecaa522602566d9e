/** What stands in a chain, in one at a time. */
export interface Linked<T> {
  /** Kept by the chain. */
  older: T | undefined;
  newer: T | undefined;
}

/**
 * What is under way at the moment, in the order in which it began. For what comes
 * and goes with each request, where a `Map` or `Set` is dear: its table is made
 * anew after every few dozen entries, in the old generation once it has come to
 * live there, and each table left behind keeps the requests alive that stood in
 * it until that is collected. Here only neighbours are linked, and what leaves
 * holds nobody and is held by nobody.
 */
export class Chain<T extends Linked<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): T | undefined {
    return this.#oldest;
  }

  get newest(): T | undefined {
    return this.#newest;
  }

  /** Of something that stands in no chain. */
  add(item: T): void {
    const before = this.#newest;
    item.older = before;
    if (before === undefined) this.#oldest = item;
    else before.newer = item;
    this.#newest = item;
    this.#size++;
  }

  /** Nothing happens to what does not stand in it. */
  delete(item: T): void {
    const { older, newer } = item;
    if (older === undefined && this.#oldest !== item) return;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    item.older = undefined;
    item.newer = undefined;
    this.#size--;
  }

  /** From the oldest on; the item at hand may be deleted meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    for (let item = this.#oldest; item !== undefined; ) {
      const { newer } = item;
      yield item;
      item = newer;
    }
  }
}
