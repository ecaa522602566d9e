import { describe, expect, it } from 'vitest';
import { SequenceNumbers } from './sequence-numbers.ts';

describe('SequenceNumbers', () => {
  it('begins at 1 and leaves no hole for an attempt that could not be noted', () => {
    const numbers = new SequenceNumbers();
    expect([numbers.take(), numbers.open(), numbers.take()]).toEqual([1, 2, 3]);
    numbers.giveBack(2);
    expect(numbers.completeTo).toBe(1);
    expect([numbers.take(), numbers.take()]).toEqual([2, 4]);
    expect(numbers.completeTo).toBe(4);
  });

  it('is complete up to the first attempt under way, in whichever order attempts end', () => {
    const numbers = new SequenceNumbers();
    const [first, second, third] = [numbers.open(), numbers.open(), numbers.open()] as const;
    numbers.close(second);
    expect(numbers.completeTo).toBe(0);
    numbers.close(first);
    expect(numbers.completeTo).toBe(2);
    numbers.close(third);
    expect(numbers.completeTo).toBe(numbers.highest);
  });
});
