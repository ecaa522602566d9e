import { describe, expect, it } from 'vitest';
import { RecentMap } from './recent-map.ts';

describe('RecentMap', () => {
  it('gives up what was not used for the longest time, and says what it was', () => {
    const map = new RecentMap<number>(2);
    expect(map.set('a', 1)).toBeUndefined();
    expect(map.set('b', 2)).toBeUndefined();
    expect(map.use('a')).toBe(1);
    expect(map.set('c', 3)).toBe(2);
    expect([...map.values()]).toEqual([1, 3]);
  });

  it('does not count a peek as a use', () => {
    const map = new RecentMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.peek('a')).toBe(1);
    expect(map.set('c', 3)).toBe(1);
  });

  it('gives up nothing when a held entry is set again', () => {
    const map = new RecentMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.set('a', 3)).toBeUndefined();
    expect([...map.values()].sort()).toEqual([2, 3]);
    expect(map.set('c', 4)).toBe(2);
  });
});
