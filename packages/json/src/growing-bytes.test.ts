import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GrowingBytes } from './growing-bytes.ts';

describe('GrowingBytes', () => {
  it('gives back what was added, in whatever pieces it came', () => {
    const sizes = fc.array(
      fc.oneof(fc.nat(8), fc.nat(40_000), fc.constantFrom(4095, 4096, 16_384)),
    );
    fc.assert(
      fc.property(sizes, (lengths) => {
        const pieces = lengths.map((length, index) => Buffer.alloc(length, index + 1));
        const bytes = new GrowingBytes();
        const again = new GrowingBytes();
        for (const piece of pieces) {
          bytes.add(piece);
          again.add(piece);
        }
        const whole = Buffer.concat(pieces);
        expect(bytes.length).toBe(whole.length);
        expect(bytes.take().equals(whole)).toBe(true);
        expect(bytes.take()).toHaveLength(0);
        expect(Buffer.concat(again.takePieces()).equals(whole)).toBe(true);
      }),
    );
  });

  it('holds single bytes in little more than their number', () => {
    const bytes = new GrowingBytes();
    const total = 4 * 1024 * 1024;
    for (let added = 0; added < total; added++) bytes.add(Buffer.from([added & 0xff]));
    expect(bytes.takePieces().length).toBeLessThan(total / 10_000);
  });
});
