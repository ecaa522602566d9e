/** Values by key, as many as fit: by count, and by the weights they are put in with. The longest unused go first. */
export class RecentlyUsed<V> {
  readonly #countMax: number;
  readonly #weightMax: number;
  /** Maps keep insertion order, and a value that is used is inserted again. */
  readonly #held = new Map<string, { value: V; weight: number }>();
  #weight = 0;

  constructor(caps: { countMax: number; weightMax: number }) {
    this.#countMax = caps.countMax;
    this.#weightMax = caps.weightMax;
  }

  get size(): number {
    return this.#held.size;
  }

  get(key: string): V | undefined {
    const entry = this.#held.get(key);
    if (entry === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, entry);
    return entry.value;
  }

  /** A value heavier than the cap is not kept. */
  put(key: string, value: V, weight: number): void {
    this.#drop(key);
    if (weight > this.#weightMax) return;
    this.#held.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= this.#countMax && this.#weight <= this.#weightMax) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const entry = this.#held.get(key);
    if (entry === undefined) return;
    this.#held.delete(key);
    this.#weight -= entry.weight;
  }
}
