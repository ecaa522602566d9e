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

  it('knows of attempts that outlast a hundred thousand others', () => {
    const numbers = new SequenceNumbers();
    const open = new Set<number>();
    const givenBack: number[] = [];
    let state = 7;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return state % below;
    };
    const begin = () => {
      const number = numbers.open();
      open.add(number);
      givenBack.splice(givenBack.indexOf(number), givenBack.includes(number) ? 1 : 0);
    };
    for (let round = 0; round < 100_000; round++) {
      begin();
      if (round % 20_000 === 0) continue;
      if (random(1000) === 0) {
        const [oldest = 0] = open;
        open.delete(oldest);
        numbers.giveBack(oldest);
        givenBack.push(oldest);
      } else if (open.size > 40) {
        const last = [...open].at(-1 - random(30)) ?? 0;
        open.delete(last);
        numbers.close(last);
      }
      if (round % 997 === 0)
        expect(numbers.completeTo).toBe(Math.min(numbers.highest + 1, ...open, ...givenBack) - 1);
    }
    for (const number of open) numbers.close(number);
    for (const number of [...givenBack]) numbers.close(number);
    while (numbers.unused.length > 0) numbers.take();
    expect(numbers.completeTo).toBe(numbers.highest);
  });
});
