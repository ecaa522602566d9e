import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { FewTexts } from './few-texts.ts';
import { varint, type WireReader } from './wire-reader.ts';

/** The names of an enum's values. */
export class NamesOfEnum implements Column {
  readonly #texts = new FewTexts();
  readonly #nameOf: (value: number) => string;
  readonly #names = new Map<number, Uint8Array>();
  #rows = 0;
  readonly type = this.#texts.type;
  /** Zero has a name too. */
  readonly isUsed = true;

  constructor(nameOf: (value: number) => string) {
    this.#nameOf = nameOf;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(varint);
    wire.varint();
    this.clear(row);
    this.#fill(row);
    this.#put(wire.low | 0, row);
  }

  clear(row: number): void {
    this.#rows = Math.min(this.#rows, row);
  }

  textOf(row: number): string {
    return row < this.#rows ? this.#texts.textOf(row) : this.#nameOf(0);
  }

  write(out: BlockWriter, rows: number): void {
    this.#fill(rows);
    this.#texts.write(out, rows);
  }

  reset(): void {
    this.#texts.reset();
    this.#rows = 0;
  }

  #fill(row: number): void {
    while (this.#rows < row) this.#put(0, this.#rows);
  }

  #put(value: number, row: number): void {
    let name = this.#names.get(value);
    if (name === undefined) {
      name = Buffer.from(this.#nameOf(value));
      if (this.#names.size < namesMax) this.#names.set(value, name);
    }
    this.#texts.put(name, 0, name.length, row);
    this.#rows = row + 1;
  }
}

/** Values may be any number. */
const namesMax = 1000;
