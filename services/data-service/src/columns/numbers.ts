import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { fixed64, varint, type WireReader } from './wire-reader.ts';

type Words = Uint8Array | Uint32Array;

/** Values of one size, each in so many words. */
abstract class Numbers<Values extends Words> implements Column {
  abstract readonly type: string;
  isUsed = false;
  #rows = 0;
  values: Values;
  readonly #wordsEach: number;

  constructor(values: Values, wordsEach: number) {
    this.values = values;
    this.#wordsEach = wordsEach;
  }

  abstract read(wire: WireReader, row: number): void;

  /** Where the words of a row stand, which are zero until they are written. */
  place(row: number): number {
    this.isUsed = true;
    if (row >= this.#rows) this.#rows = row + 1;
    const at = row * this.#wordsEach;
    if (at >= this.values.length) {
      const grown = new (this.values.constructor as new (length: number) => Values)(at * 2);
      grown.set(this.values);
      this.values = grown;
    }
    return at;
  }

  clear(row: number): void {
    const at = row * this.#wordsEach;
    this.values.fill(0, at, at + this.#wordsEach);
  }

  write(out: BlockWriter, rows: number): void {
    const { buffer, byteOffset, BYTES_PER_ELEMENT, length } = this.values;
    const wanted = rows * this.#wordsEach;
    out.bytes(new Uint8Array(buffer, byteOffset, Math.min(wanted, length) * BYTES_PER_ELEMENT));
    if (wanted > length) out.zeros((wanted - length) * BYTES_PER_ELEMENT);
  }

  reset(): void {
    this.values.fill(0, 0, this.#rows * this.#wordsEach);
    this.isUsed = false;
    this.#rows = 0;
  }
}

const firstRows = 1024;

export class Bools extends Numbers<Uint8Array> {
  readonly type = 'Bool';

  constructor() {
    super(new Uint8Array(firstRows), 1);
  }

  read(wire: WireReader, row: number): void {
    wire.expect(varint);
    wire.varint();
    // The place first: making room for it replaces the values.
    const at = this.place(row);
    this.values[at] = wire.low === 0 && wire.high === 0 ? 0 : 1;
  }
}

export class Integers32 extends Numbers<Uint32Array> {
  readonly type: 'UInt32' | 'Int32';

  constructor(type: 'UInt32' | 'Int32') {
    super(new Uint32Array(firstRows), 1);
    this.type = type;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(varint);
    wire.varint();
    const { low } = wire;
    const at = this.place(row);
    // What is signed is written as zigzag.
    this.values[at] = this.type === 'UInt32' ? low : (low >>> 1) ^ -(low & 1);
  }
}

export class Integers64 extends Numbers<Uint32Array> {
  readonly type: 'UInt64' | 'Int64';

  constructor(type: 'UInt64' | 'Int64') {
    super(new Uint32Array(firstRows * 2), 2);
    this.type = type;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(varint);
    wire.varint();
    const { low, high } = wire;
    const at = this.place(row);
    if (this.type === 'UInt64') {
      this.values[at] = low;
      this.values[at + 1] = high;
    } else {
      const sign = -(low & 1);
      this.values[at] = ((low >>> 1) | (high << 31)) ^ sign;
      this.values[at + 1] = (high >>> 1) ^ sign;
    }
  }

  at(row: number): bigint {
    const [low, high] = [this.values[row * 2] ?? 0, this.values[row * 2 + 1] ?? 0];
    const value = (BigInt(high) << 32n) | BigInt(low);
    return this.type === 'UInt64' ? value : BigInt.asIntN(64, value);
  }
}

/** Doubles; what is no number is zero. */
export class Doubles extends Numbers<Uint8Array> {
  readonly type = 'Float64';

  constructor() {
    super(new Uint8Array(firstRows * 8), 8);
  }

  read(wire: WireReader, row: number): void {
    wire.expect(fixed64);
    const start = wire.eight();
    const { bytes } = wire;
    const at = this.place(row);
    const isNumber = (bytes[start + 7]! & 0x7f) !== 0x7f || bytes[start + 6]! < 0xf0;
    for (let index = 0; index < 8; index += 1)
      this.values[at + index] = isNumber ? bytes[start + index]! : 0;
  }
}
