import { Chain, type Linked } from './chain.ts';

class Entry<V> implements Linked<Entry<V>> {
  older: Entry<V> | undefined = undefined;
  newer: Entry<V> | undefined = undefined;
  readonly key: string;
  value: V;

  constructor(key: string, value: V) {
    this.key = key;
    this.value = value;
  }
}

/** A map with a cap: what was not used for the longest time makes room. A use moves links and leaves the table alone. */
export class RecentMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #byUse = new Chain<Entry<V>>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Looks without counting as a use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Looks, and makes the entry the most recent one. */
  use(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#renew(entry);
    return entry.value;
  }

  /** Returns the value that had to make room, if one had to. */
  set(key: string, value: V): V | undefined {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.value = value;
      this.#renew(known);
      return undefined;
    }
    const entry = new Entry(key, value);
    this.#entries.set(key, entry);
    this.#byUse.add(entry);
    const { oldest } = this.#byUse;
    if (this.#entries.size <= this.#entriesMax || oldest === undefined) return undefined;
    this.delete(oldest.key);
    return oldest.value;
  }

  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#byUse.delete(entry);
    return this.#entries.delete(key);
  }

  /** In the order in which they were added; each may be deleted meanwhile. */
  *values(): Generator<V, undefined> {
    for (const { value } of this.#entries.values()) yield value;
  }

  #renew(entry: Entry<V>): void {
    if (this.#byUse.newest === entry) return;
    this.#byUse.delete(entry);
    this.#byUse.add(entry);
  }
}
