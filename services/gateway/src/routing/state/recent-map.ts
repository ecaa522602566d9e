/** A map with a cap: what was not used for the longest time makes room. */
export class RecentMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Looks without counting as a use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** Looks, and makes the entry the most recent one. */
  use(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Returns the value that had to make room, if one had to. */
  set(key: string, value: V): V | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#entriesMax) return undefined;
    const [oldest] = this.#entries;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest[0]);
    return oldest[1];
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  values(): MapIterator<V> {
    return this.#entries.values();
  }
}
