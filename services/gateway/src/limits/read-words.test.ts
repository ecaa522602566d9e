import { describe, expect, it } from 'vitest';
import { IntegerWords } from './read-words.ts';

function all(text: string, from?: number): number[] {
  const words = new IntegerWords(text, from);
  const read: number[] = [];
  while (!words.isOver) read.push(words.next());
  return read;
}

describe('IntegerWords', () => {
  it('reads what Redis counts, to the last digit', () => {
    expect(all('ok 1763888000123 0 9007199254740991 -1 7', 3)).toEqual([
      1763888000123,
      0,
      Number.MAX_SAFE_INTEGER,
      -1,
      7,
    ]);
    expect(all('')).toEqual([]);
  });

  it('takes nothing for a number that is none', () => {
    expect(all('1e5 - 12a 0x1  4')).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
      4,
    ]);
    expect(new IntegerWords('').next()).toBeNaN();
  });
});
