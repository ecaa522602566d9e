import { describe, expect, it } from 'vitest';
import { hash32, hash64Hex, mixHashes } from './hash.ts';

describe('hash32', () => {
  it('is MurmurHash3 over UTF-16 code units, low byte first', () => {
    // Published values of the algorithm, for the bytes that these texts are in UTF-16LE.
    expect(hash32('', 0)).toBe(0);
    expect(hash32('', 1)).toBe(0x514e28b7);
    expect(hash32('\u0000\u0000', 0)).toBe(0x2362f9de);
    expect(hash32('\uffff\uffff', 0)).toBe(0x76293b50);
    expect(hash32('\u4321\u8765', 0)).toBe(0xf55b516b);
    expect(hash32('\u4321\u8765', 0x5082edee)).toBe(0x2362f9de);
    expect(hash32('\u4321', 0)).toBe(0xa0f7b07a);
  });

  it('gives neighbours different values', () => {
    const seen = new Set(Array.from({ length: 50_000 }, (_, index) => hash64Hex(`user-${index}`)));
    expect(seen.size).toBe(50_000);
  });
});

describe('mixHashes', () => {
  it('spreads inputs that differ in one bit', () => {
    const buckets = new Array<number>(16).fill(0);
    for (let index = 0; index < 16_000; index++) {
      const bucket = mixHashes(index, 12345) >>> 28;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    const statistic = buckets.reduce((sum, seen) => sum + (seen - 1000) ** 2 / 1000, 0);
    // The 99.9 % point of chi-square with 15 degrees of freedom.
    expect(statistic).toBeLessThan(37.7);
  });
});
