/** A power of two: how far the youngest number may be from the oldest that is looked at with it. */
const windowSize = 16_384;

/**
 * Numbers the records of one life of a replica, from 1, without holes: a number
 * whose entry could not be written is taken again by the next.
 */
export class SequenceNumbers {
  #highest = 0;
  readonly #givenBack: number[] = [];
  /** 1 for the numbers from `#from` on whose attempts are under way, by their last bits: no table is made anew as numbers come and go. */
  readonly #window = new Uint8Array(windowSize);
  /** None below it is under way but those of `#old`. */
  #from = 1;
  /** Of attempts that go on while thousands of others came. */
  readonly #old = new Set<number>();

  /** For what is recorded now. */
  take(): number {
    return this.#givenBack.pop() ?? ++this.#highest;
  }

  /** For an attempt that begins now; its record follows. */
  open(): number {
    const number = this.take();
    this.#moveTo(number);
    if (number < this.#from) this.#old.add(number);
    else this.#window[number & (windowSize - 1)] = 1;
    return number;
  }

  close(number: number): void {
    if (number < this.#from) this.#old.delete(number);
    else if (number < this.#from + windowSize) this.#window[number & (windowSize - 1)] = 0;
  }

  /** The attempt is not made. */
  giveBack(number: number): void {
    this.close(number);
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
    this.#skipClosed();
    let lowest = this.#from;
    for (const number of this.#old) if (number < lowest) lowest = number;
    for (const number of this.#givenBack) if (number < lowest) lowest = number;
    return lowest - 1;
  }

  /** Makes room for a number: what is still under way so far before it is kept apart. */
  #moveTo(number: number): void {
    if (number < this.#from + windowSize) return;
    this.#skipClosed();
    while (number >= this.#from + windowSize) {
      this.#old.add(this.#from);
      this.#window[this.#from & (windowSize - 1)] = 0;
      this.#from++;
      this.#skipClosed();
    }
  }

  #skipClosed(): void {
    while (this.#from <= this.#highest && this.#window[this.#from & (windowSize - 1)] === 0)
      this.#from++;
  }
}
