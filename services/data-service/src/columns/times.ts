import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { UnfitRecord } from './unfit-record.ts';
import { varint, type WireReader } from './wire-reader.ts';

/** Times in ms since the epoch, which every row has. */
export class Times implements Column {
  readonly type = "DateTime64(3, 'UTC')";
  readonly isUsed = true;
  readonly #field: string;
  #values = new Float64Array(1024);
  #rows = 0;

  constructor(field: string) {
    this.#field = field;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(varint);
    wire.varint();
    if (row >= this.#values.length) {
      const grown = new Float64Array(this.#values.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[row] = (wire.high | 0) * 2 ** 32 + wire.low;
    this.#rows = row + 1;
  }

  /** @throws UnfitRecord for a clock far off, whose partition nobody looks at */
  demand(row: number): void {
    const ms = this.#rows > row ? this.msOf(row) : 0;
    if (!isPlausible(ms)) throw new UnfitRecord(`${this.#field} is not within 2020 to 2099`);
  }

  msOf(row: number): number {
    return this.#values[row] ?? 0;
  }

  clear(row: number): void {
    this.#rows = Math.min(this.#rows, row);
  }

  write(out: BlockWriter, rows: number): void {
    for (let row = 0; row < rows; row += 1) out.uint64(this.msOf(row));
  }

  reset(): void {
    this.#rows = 0;
  }
}

const earliestMs = Date.UTC(2020, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

export function isPlausible(ms: number): boolean {
  return ms >= earliestMs && ms < latestMs;
}
