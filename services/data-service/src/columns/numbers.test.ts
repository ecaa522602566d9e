import { expect, it } from 'vitest';
import { Bools, Doubles, Integers32, Integers64 } from './numbers.ts';
import { WireReader } from './wire-reader.ts';

/** A varint, and a double, in the field with the number one. */
const one = Uint8Array.of(0x08, 1);
const half = Uint8Array.of(0x09, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f);

it.each([
  ['booleans', new Bools(), one, [1]],
  ['small integers', new Integers32('UInt32'), one, [1]],
  ['signed ones', new Integers32('Int32'), one, [-1 >>> 0]],
  ['large integers', new Integers64('UInt64'), one, [1, 0]],
  ['doubles', new Doubles(), half, [...half.subarray(1)]],
])(
  'of %s each row has its value, those too for which room was made',
  (_name, column, record, words) => {
    const wire = new WireReader();
    const rows = 5000;
    for (let row = 0; row < rows; row += 1) {
      wire.open(record);
      wire.field();
      column.read(wire, row);
    }
    const faults: number[] = [];
    for (let row = 0; row < rows; row += 1)
      if (words.some((word, index) => column.values[row * words.length + index] !== word))
        faults.push(row);
    expect(faults).toEqual([]);
  },
);
