import type { BlockWriter } from './block-writer.ts';
import { ByteList } from './byte-list.ts';
import type { Column } from './column.ts';
import { lengthDelimited, type WireReader } from './wire-reader.ts';

/** Texts of which nearly every one is another. */
export class Texts implements Column {
  readonly type = 'String';
  readonly #list = new ByteList();
  /** Where the text of each row ends. */
  readonly #ends: number[] = [];

  get isUsed(): boolean {
    return this.#ends.length > 0;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(lengthDelimited);
    const end = wire.span();
    this.clear(row);
    this.#fill(row);
    this.#list.addText(wire.bytes, wire.at, end);
    this.#ends.push(this.#list.length);
    wire.at = end;
  }

  clear(row: number): void {
    if (this.#ends.length <= row) return;
    this.#ends.length = row;
    this.#list.length = this.#ends[row - 1] ?? 0;
  }

  write(out: BlockWriter, rows: number): void {
    this.#fill(rows);
    out.bytes(this.#list.bytes.subarray(0, this.#list.length));
  }

  reset(): void {
    this.#list.length = 0;
    this.#ends.length = 0;
  }

  /** Empty texts up to this row. */
  #fill(rows: number): void {
    const count = rows - this.#ends.length;
    if (count <= 0) return;
    const { length } = this.#list;
    this.#list.addEmpty(count);
    for (let each = 1; each <= count; each += 1) this.#ends.push(length + each);
  }
}
