import { describe, expect, it } from 'vitest';
import { OpenAttempts } from './open-attempts.ts';

/** With the same last bytes they share a place. */
const idOf = (first: number, last: number) => {
  const id = Buffer.alloc(16);
  id[0] = first;
  id[15] = last;
  return id;
};

describe('OpenAttempts', () => {
  it('finds each among those that share its place, by what its id says', () => {
    const open = new OpenAttempts();
    for (const first of [1, 2, 3]) open.add(idOf(first, 9), 4, Buffer.from([first]));
    open.add(idOf(1, 8), 5, Buffer.from('other'));
    open.delete(idOf(2, 9));
    open.delete(idOf(2, 9));
    open.delete(idOf(4, 9));
    expect(open.size).toBe(3);
    expect(open.in(4).map(({ payload }) => payload[0])).toEqual([3, 1]);
    open.delete(idOf(3, 9));
    open.delete(idOf(1, 9));
    expect(open.in(4)).toEqual([]);
    expect(open.in(5).map(({ payload }) => String(payload))).toEqual(['other']);
  });
});
