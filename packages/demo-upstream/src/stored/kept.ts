interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** What is kept of one kind, by id; together it is bounded, and the oldest go. */
export class Kept<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #max: { count: number; bytes: number };
  #bytes = 0;

  constructor(max: { count: number; bytes: number }) {
    this.#max = max;
  }

  /** @param bytes about as many as it has as JSON */
  set(id: string, value: Value, bytes: number): void {
    this.#bytes += bytes - (this.#entries.get(id)?.bytes ?? 0);
    this.#entries.set(id, { value, bytes });
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#max.bytes && this.#entries.size <= this.#max.count) break;
      this.delete(oldest);
    }
  }

  get(id: string): Value | undefined {
    return this.#entries.get(id)?.value;
  }

  *values(): Generator<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  delete(id: string): void {
    this.#bytes -= this.#entries.get(id)?.bytes ?? 0;
    this.#entries.delete(id);
  }
}
