const space = 32;
const minus = 45;
const zero = 48;

/** Integers below 2^53 with a space between, one after the other: no text is made of each. */
export class IntegerWords {
  readonly #text: string;
  #at: number;

  /** @param from where the first begins */
  constructor(text: string, from = 0) {
    this.#text = text;
    this.#at = from;
  }

  get isOver(): boolean {
    return this.#at >= this.#text.length;
  }

  /** NaN after the last, and for what is no integer. */
  next(): number {
    const text = this.#text;
    let at = this.#at;
    const isNegative = text.charCodeAt(at) === minus;
    if (isNegative) at++;
    const from = at;
    let value = 0;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === space) break;
      const digit = unit - zero;
      value = digit < 0 || digit > 9 ? Number.NaN : value * 10 + digit;
    }
    this.#at = at + 1;
    if (at === from) return Number.NaN;
    return isNegative ? -value : value;
  }
}
