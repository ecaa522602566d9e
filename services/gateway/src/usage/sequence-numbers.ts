/**
 * Numbers the records of one life of a replica, from 1, without holes: a number
 * whose entry could not be written is taken again by the next.
 */
export class SequenceNumbers {
  #highest = 0;
  readonly #givenBack: number[] = [];
  /** Of attempts under way. */
  readonly #open = new Set<number>();

  /** For what is recorded now. */
  take(): number {
    return this.#givenBack.pop() ?? ++this.#highest;
  }

  /** For an attempt that begins now; its record follows. */
  open(): number {
    const number = this.take();
    this.#open.add(number);
    return number;
  }

  close(number: number): void {
    this.#open.delete(number);
  }

  /** The attempt is not made. */
  giveBack(number: number): void {
    this.#open.delete(number);
    this.#givenBack.push(number);
  }

  /** The highest that was taken. */
  get highest(): number {
    return this.#highest;
  }

  /** Those that nothing is recorded under, so far. */
  get unused(): readonly number[] {
    return this.#givenBack;
  }

  /** Every number up to this one has its record. */
  get completeTo(): number {
    let lowest = this.#highest + 1;
    for (const number of this.#open) if (number < lowest) lowest = number;
    for (const number of this.#givenBack) if (number < lowest) lowest = number;
    return lowest - 1;
  }
}
