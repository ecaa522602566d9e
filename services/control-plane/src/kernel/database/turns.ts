/**
 * So many at a time, the others in the order in which they came. Hundreds of
 * gateways may ask within a second of each other, and what asks the ledger may take
 * long: they wait for one another here, and not with the admin API's calls for the
 * connections to the database.
 */
export class Turns {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay >= this.#max) await new Promise<void>((turn) => this.#waiting.push(turn));
    else this.#underWay += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }
}
