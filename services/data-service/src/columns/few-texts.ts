import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { Dictionary } from './dictionary.ts';
import { lengthDelimited, type WireReader } from './wire-reader.ts';

/** Texts of which there are few: a dictionary, and a number each. */
export class FewTexts implements Column {
  readonly type = 'LowCardinality(String)';
  readonly #dictionary = new Dictionary();
  #numbers = new Uint32Array(1024);
  #rows = 0;

  constructor() {
    this.reset();
  }

  get isUsed(): boolean {
    return this.#rows > 0;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(lengthDelimited);
    const end = wire.span();
    this.put(wire.bytes, wire.at, end, row);
    wire.at = end;
  }

  put(bytes: Uint8Array, start: number, end: number, row: number): void {
    const number = this.#dictionary.numberOf(bytes, start, end);
    if (row >= this.#numbers.length) {
      const grown = new Uint32Array(2 ** Math.ceil(Math.log2(row + 1)));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[row] = number;
    if (row >= this.#rows) this.#rows = row + 1;
  }

  textOf(row: number): string {
    return this.#dictionary.textOf(this.#numbers[row] ?? 0);
  }

  clear(row: number): void {
    if (row < this.#numbers.length) this.#numbers[row] = 0;
  }

  write(out: BlockWriter, rows: number): void {
    out.uint64(dictionaryVersion);
    this.writeValues(out, rows);
  }

  /** Without what begins a column. */
  writeValues(out: BlockWriter, rows: number): void {
    const { size } = this.#dictionary;
    const width = size <= 2 ** 8 ? 0 : size <= 2 ** 16 ? 1 : 2;
    out.uint64(ownKeys | width);
    out.uint64(size);
    this.#dictionary.write(out);
    out.uint64(rows);
    const given = this.#numbers.subarray(0, Math.min(rows, this.#numbers.length));
    const numbers =
      width === 0 ? new Uint8Array(given) : width === 1 ? new Uint16Array(given) : given;
    out.bytes(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    out.zeros((rows - given.length) * 2 ** width);
  }

  reset(): void {
    this.#numbers.fill(0, 0, this.#rows);
    this.#rows = 0;
    this.#dictionary.reset();
    // What rows without a value have.
    this.#dictionary.numberOf(noBytes, 0, 0);
  }
}

const noBytes = new Uint8Array();
/** Of how dictionaries are written. */
export const dictionaryVersion = 1;
/** The keys come with the rows, and stand for these only. */
const ownKeys = 0x600;
