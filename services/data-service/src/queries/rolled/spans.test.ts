import { describe, expect, it } from 'vitest';
import { atMost, spansOfUnits, wholeUnits, without } from './spans.ts';

const span = (from: number, to: number) => ({ from, to });

describe('spans', () => {
  it('of units that touch are one, in whatever order they come', () => {
    expect(spansOfUnits([7, 2, 3], 1)).toEqual([span(120_000, 240_000), span(420_000, 480_000)]);
    expect(spansOfUnits([60, 0], 60)).toEqual([span(0, 7_200_000)]);
  });

  it('lose what others cover, and nothing else', () => {
    expect(without([span(0, 100)], [span(10, 20), span(90, 200)])).toEqual([
      span(0, 10),
      span(20, 90),
    ]);
    expect(without([span(0, 10), span(20, 30)], [span(5, 25)])).toEqual([span(0, 5), span(25, 30)]);
    expect(without([span(0, 10)], [span(0, 10)])).toEqual([]);
    expect(without([span(0, 10)], [])).toEqual([span(0, 10)]);
  });

  it('hold whole units, or none', () => {
    const hour = 3_600_000;
    expect(wholeUnits(span(1, 3 * hour + 1), 60)).toEqual([span(hour, 3 * hour)]);
    expect(wholeUnits(span(1, 2 * hour - 1), 60)).toEqual([]);
  });

  it('are brought down to a number by filling the smallest gaps', () => {
    const some = [span(0, 1), span(2, 3), span(10, 11), span(13, 14), span(30, 31)];
    expect(atMost(some, 5)).toEqual(some);
    for (const count of [1, 2, 3, 4]) {
      const few = atMost(some, count);
      expect(few.length).toBeLessThanOrEqual(count);
      expect(without(some, few)).toEqual([]);
    }
    expect(atMost(some, 2)).toEqual([span(0, 14), span(30, 31)]);
    // Gaps of one size are filled together.
    expect(atMost([span(0, 1), span(2, 3), span(4, 5)], 2)).toEqual([span(0, 5)]);
  });
});
