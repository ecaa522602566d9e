/**
 * The bytes of an event that waits. One event of a stream is nearly the one
 * before it: only what is different is kept, since thousands of streams may
 * hold dozens of events each.
 */
export class PackedEvent {
  readonly #base: Buffer;
  /** Of the base: how much it begins with, and how much it ends with. */
  readonly #start: number;
  readonly #end: number;
  readonly #middle: string;

  /** @param before the event before it; undefined = there is none */
  constructor(bytes: Buffer, before: PackedEvent | undefined) {
    const base = before === undefined ? bytes : before.#base;
    const start = base === bytes ? 0 : sameAtStart(base, bytes);
    const end = base === bytes ? 0 : sameAtEnd(base, bytes, start);
    const isAlike = start + end > bytes.length / 2;
    this.#base = isAlike ? base : bytes;
    this.#start = isAlike ? start : bytes.length;
    this.#end = isAlike ? end : 0;
    this.#middle = isAlike ? bytes.toString('latin1', start, bytes.length - end) : '';
  }

  get bytes(): Buffer {
    const base = this.#base;
    if (this.#start === base.length) return base;
    const { length } = this.#middle;
    const bytes = Buffer.allocUnsafe(this.#start + length + this.#end);
    base.copy(bytes, 0, 0, this.#start);
    bytes.write(this.#middle, this.#start, length, 'latin1');
    base.copy(bytes, this.#start + length, base.length - this.#end);
    return bytes;
  }
}

function sameAtStart(one: Buffer, other: Buffer): number {
  const max = Math.min(one.length, other.length);
  let at = 0;
  while (at < max && one[at] === other[at]) at += 1;
  return at;
}

function sameAtEnd(one: Buffer, other: Buffer, start: number): number {
  const max = Math.min(one.length, other.length) - start;
  let count = 0;
  while (count < max && one[one.length - 1 - count] === other[other.length - 1 - count]) count += 1;
  return count;
}
