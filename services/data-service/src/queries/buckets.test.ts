import { describe, expect, it } from 'vitest';
import { bucketStarts, bucketWidthMs } from './buckets.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe('bucketWidthMs', () => {
  it.each([
    [0, minute],
    [2 * hour, minute],
    [2 * hour + 1, 5 * minute],
    [12 * hour, 5 * minute],
    [day, 15 * minute],
    [7 * day, hour],
    [30 * day, 6 * hour],
    [366 * day, day],
    [3 * 366 * day, 3 * day],
  ])('gives a range of %i ms buckets of %i ms', (rangeMs, widthMs) => {
    expect(bucketWidthMs({ fromMs: 1000, toMs: 1000 + rangeMs })).toBe(widthMs);
  });

  it('keeps the number of points below 400 for any range', () => {
    for (let rangeMs = minute; rangeMs < 230 * 365 * day; rangeMs *= 1.07) {
      const range = { fromMs: 0, toMs: Math.floor(rangeMs) };
      expect(bucketStarts(range, bucketWidthMs(range)).length).toBeLessThan(400);
    }
  });
});

describe('bucketStarts', () => {
  it('covers both ends of the range, aligned to the width', () => {
    expect(bucketStarts({ fromMs: 90_000, toMs: 180_000 }, minute)).toEqual([
      60_000, 120_000, 180_000,
    ]);
  });

  it('is empty when the range ends before it begins', () => {
    expect(bucketStarts({ fromMs: 1_000_000, toMs: 999_999 }, minute)).toEqual([]);
  });
});
