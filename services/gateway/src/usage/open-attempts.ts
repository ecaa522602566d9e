/** An attempt that has begun, as the outbox remembers it until it ends. */
export interface OpenAttempt {
  readonly id: Buffer;
  /** Where its begin entry stands. */
  segment: number;
  readonly payload: Buffer;
  /** Kept by whoever holds it. */
  next: OpenAttempt | undefined;
}

/** A power of two; so many are under way at most in a busy gateway, and more only make the looking longer. */
const places = 4096;

/**
 * Attempts under way, by their ids. A `Map` makes its table anew every few dozen requests, each table left behind lives
 * in the old generation and keeps the next one, and what stood in it, until that is collected. Here nothing is made but
 * the attempt itself, and what leaves is held by nobody.
 */
export class OpenAttempts {
  readonly #places: (OpenAttempt | undefined)[] = new Array(places).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(id: Buffer, segment: number, payload: Buffer): void {
    const place = placeOf(id);
    this.#places[place] = { id, segment, payload, next: this.#places[place] };
    this.#size++;
  }

  /** Nothing happens where there is none. */
  delete(id: Buffer): void {
    const place = placeOf(id);
    let before: OpenAttempt | undefined;
    for (let at = this.#places[place]; at !== undefined; before = at, at = at.next) {
      if (at.id !== id && !at.id.equals(id)) continue;
      if (before === undefined) this.#places[place] = at.next;
      else before.next = at.next;
      at.next = undefined;
      this.#size--;
      return;
    }
  }

  /** Those whose begin entry stands in this segment. */
  in(segment: number): OpenAttempt[] {
    const found: OpenAttempt[] = [];
    for (const first of this.#places)
      for (let at = first; at !== undefined; at = at.next)
        if (at.segment === segment) found.push(at);
    return found;
  }
}

/** The last bytes of a UUID are random in all versions that we make. */
function placeOf(id: Buffer): number {
  const { length } = id;
  return (((id[length - 2] ?? 0) << 8) | (id[length - 1] ?? 0)) & (places - 1);
}
