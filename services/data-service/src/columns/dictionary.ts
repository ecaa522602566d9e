import { isUtf8 } from 'node:buffer';
import type { BlockWriter } from './block-writer.ts';
import { ByteList } from './byte-list.ts';
import { MalformedMessage } from './wire-reader.ts';

/** Different texts, each with its number from 0 on. */
export class Dictionary {
  readonly #list = new ByteList();
  /** Where each begins, behind its length, and where it ends. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #hashes: number[] = [];
  /** Numbers plus one, at the place of their hash or behind it. */
  #places = new Int32Array(64);

  get size(): number {
    return this.#ends.length;
  }

  /** The number of a text, which is added where it is new. */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    let bits = 0;
    for (let index = start; index < end; index += 1) {
      const byte = bytes[index]!;
      bits |= byte;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    hash ^= hash >>> 15;
    const mask = this.#places.length - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const number = this.#places[place]! - 1;
      if (number < 0) {
        if (bits > 0x7f && !isUtf8(bytes.subarray(start, end))) throw new MalformedMessage();
        this.#places[place] = this.size + 1;
        return this.#add(hash, bytes, start, end);
      }
      if (this.#hashes[number] === hash && this.#isAt(number, bytes, start, end)) return number;
    }
  }

  textOf(number: number): string {
    return this.#list.bytes.toString('utf8', this.#starts[number], this.#ends[number]);
  }

  write(out: BlockWriter): void {
    out.bytes(this.#list.bytes.subarray(0, this.#list.length));
  }

  reset(): void {
    this.#list.length = 0;
    this.#starts.length = 0;
    this.#ends.length = 0;
    this.#hashes.length = 0;
    this.#places.fill(0);
  }

  #isAt(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[number]!;
    if (this.#ends[number]! - from !== end - start) return false;
    const own = this.#list.bytes;
    for (let index = start; index < end; index += 1)
      if (own[from + index - start] !== bytes[index]) return false;
    return true;
  }

  #add(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const number = this.size;
    this.#list.addText(bytes, start, end);
    this.#ends.push(this.#list.length);
    this.#starts.push(this.#list.length - (end - start));
    this.#hashes.push(hash);
    if (this.size * 2 > this.#places.length) this.#grow();
    return number;
  }

  #grow(): void {
    this.#places = new Int32Array(this.#places.length * 4);
    const mask = this.#places.length - 1;
    for (const [number, hash] of this.#hashes.entries()) {
      let place = hash & mask;
      while (this.#places[place] !== 0) place = (place + 1) & mask;
      this.#places[place] = number + 1;
    }
  }
}
