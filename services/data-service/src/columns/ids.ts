import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { UnfitRecord } from './unfit-record.ts';
import { lengthDelimited, type WireReader } from './wire-reader.ts';

/** UUIDs, which come as their sixteen bytes. */
export class Ids implements Column {
  readonly type = 'UUID';
  readonly #field: string;
  #values = Buffer.alloc(1024 * size);
  #rows = 0;
  isUsed = false;

  constructor(field: string) {
    this.#field = field;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(lengthDelimited);
    const end = wire.span();
    const { at, bytes } = wire;
    wire.at = end;
    this.clear(row);
    // As one that is not written.
    if (end === at) return;
    if (end - at !== size) throw new UnfitRecord(`${this.#field} is not 16 bytes`);
    this.#fill(row);
    // As two numbers, their last byte first.
    const place = row * size;
    for (let index = 0; index < 8; index += 1) {
      this.#values[place + 7 - index] = bytes[at + index]!;
      this.#values[place + 15 - index] = bytes[at + 8 + index]!;
    }
    this.#rows = row + 1;
    this.isUsed = true;
  }

  /** Whether this row, which is the last, has one. */
  has(row: number): boolean {
    return this.#rows > row;
  }

  /** @throws UnfitRecord where the row has none */
  demand(row: number): void {
    if (!this.has(row)) throw new UnfitRecord(`${this.#field} is not 16 bytes`);
  }

  isSame(other: Ids, row: number): boolean {
    const [start, end] = [row * size, (row + 1) * size];
    return this.has(row) && this.#values.compare(other.#values, start, end, start, end) === 0;
  }

  textOf(row: number): string {
    const half = (at: number) =>
      this.#values
        .readBigUInt64LE(row * size + at)
        .toString(16)
        .padStart(16, '0');
    return `${half(0)}${half(8)}`.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  clear(row: number): void {
    this.#rows = Math.min(this.#rows, row);
  }

  write(out: BlockWriter, rows: number): void {
    this.#fill(rows);
    out.bytes(this.#values.subarray(0, rows * size));
  }

  reset(): void {
    this.#rows = 0;
    this.isUsed = false;
  }

  /** Zeros up to this row, and room for it. */
  #fill(row: number): void {
    if ((row + 1) * size > this.#values.length) {
      const values = Buffer.alloc(2 ** Math.ceil(Math.log2((row + 1) * size)));
      this.#values.copy(values, 0, 0, this.#rows * size);
      this.#values = values;
    }
    if (row > this.#rows) this.#values.fill(0, this.#rows * size, row * size);
    this.#rows = row;
  }
}

const size = 16;
