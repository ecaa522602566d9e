/**
 * Values by organisation and name. Names of counters are the same texts from
 * request to request: found without putting a key together, by a hash that is
 * known.
 */
export class ScopedMap<V> {
  readonly #scopes = new Map<string, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(scope: string, name: string): V | undefined {
    return this.#scopes.get(scope)?.get(name);
  }

  set(scope: string, name: string, value: V): void {
    let values = this.#scopes.get(scope);
    if (values === undefined) {
      values = new Map();
      this.#scopes.set(scope, values);
    }
    this.#size -= values.size;
    values.set(name, value);
    this.#size += values.size;
  }

  delete(scope: string, name: string): void {
    const values = this.#scopes.get(scope);
    if (values?.delete(name) !== true) return;
    this.#size--;
    if (values.size === 0) this.#scopes.delete(scope);
  }

  clear(): void {
    this.#scopes.clear();
    this.#size = 0;
  }

  of(scope: string): Iterable<V> {
    return this.#scopes.get(scope)?.values() ?? [];
  }

  *[Symbol.iterator](): Iterator<[scope: string, name: string, value: V]> {
    for (const [scope, values] of this.#scopes)
      for (const [name, value] of values) yield [scope, name, value];
  }
}
