import { describe, expect, it } from 'vitest';
import { RecentlyUsed } from './recently-used.ts';

const keys = (held: RecentlyUsed<string>, of: string) =>
  [...of].filter((key) => held.get(key) !== undefined).join('');

describe('RecentlyUsed', () => {
  it('lets go of what was longest unused when there are too many', () => {
    const held = new RecentlyUsed<string>({ countMax: 3, weightMax: 100 });
    for (const key of 'abc') held.put(key, key, 1);
    held.get('a');
    held.put('d', 'd', 1);
    expect(keys(held, 'abcd')).toBe('acd');
  });

  it('lets go of as many as a heavy one needs, and never keeps more than the cap', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    for (const key of 'abcde') held.put(key, key, 2);
    held.put('f', 'f', 5);
    expect(keys(held, 'abcdef')).toBe('def');
  });

  it('does not keep what is heavier than everything may be together', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    held.put('a', 'a', 4);
    held.put('b', 'b', 11);
    expect(keys(held, 'ab')).toBe('a');
    held.put('a', 'a', 11);
    expect(held.size).toBe(0);
  });

  it('counts a replaced value once', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    for (let round = 0; round < 20; round++) held.put('a', String(round), 6);
    held.put('b', 'b', 4);
    expect(held.get('a')).toBe('19');
    expect(held.size).toBe(2);
  });
});
