import { ScopedMap } from './scoped-map.ts';

/** What was counted here of each counter and has not arrived at the shared ones: nobody else knows of it yet. */
export class Unposted {
  readonly #amounts = new ScopedMap<number>();

  of(scope: string, name: string): number {
    return this.#amounts.get(scope, name) ?? 0;
  }

  /** @param amount less than 0 = it has arrived, or was given back */
  add(scope: string, name: string, amount: number): void {
    const sum = this.of(scope, name) + amount;
    if (sum === 0) this.#amounts.delete(scope, name);
    else this.#amounts.set(scope, name, sum);
  }
}
