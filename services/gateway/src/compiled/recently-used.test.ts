import { describe, expect, it } from 'vitest';
import { RecentlyUsed } from './recently-used.ts';

const keys = (held: RecentlyUsed<string>, of: string) =>
  [...of].filter((key) => held.get(key) !== undefined).join('');

/** As whoever uses one does it: what is not there is made and put in. */
function use(held: RecentlyUsed<string>, key: string, weight = 1): void {
  if (held.get(key) === undefined) held.put(key, key, weight);
}

describe('RecentlyUsed', () => {
  it('lets go of what was longest unused, for a key that is used again', () => {
    const held = new RecentlyUsed<string>({ countMax: 3, weightMax: 100 });
    for (const key of 'abcadd') use(held, key);
    expect(keys(held, 'abcd')).toBe('acd');
  });

  it('keeps what is in use, whatever comes once', () => {
    const held = new RecentlyUsed<string>({ countMax: 3, weightMax: 100 });
    for (const key of 'abc') use(held, key);
    for (let once = 0; once < 10_000; once++) use(held, `once ${once}`);
    expect(keys(held, 'abc')).toBe('abc');
    expect(held.size).toBe(3);
  });

  it('follows when all that is in use changes', () => {
    const held = new RecentlyUsed<string>({ countMax: 1_000, weightMax: 1e6 });
    const generation = (name: string) =>
      Array.from({ length: 1_000 }, (_, index) => `${name} ${index}`);
    for (const key of generation('old')) use(held, key);
    for (let round = 0; round < 2; round++) for (const key of generation('new')) use(held, key);
    const left = generation('new').filter((key) => held.get(key) !== undefined);
    // A few share a place with another and need one more use.
    expect(left.length).toBeGreaterThan(900);
    expect(held.size).toBe(1_000);
  });

  it('lets go of as many as a heavy one needs, and never keeps more than the cap', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    for (const key of 'abcde') use(held, key, 2);
    for (const key of 'ff') use(held, key, 5);
    expect(keys(held, 'abcdef')).toBe('def');
  });

  it('does not keep what is heavier than everything may be together', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    use(held, 'a', 4);
    for (const key of 'bb') use(held, key, 11);
    expect(keys(held, 'ab')).toBe('a');
    held.put('a', 'a', 11);
    expect(held.size).toBe(0);
  });

  it('counts a replaced value once, and replaces it at once', () => {
    const held = new RecentlyUsed<string>({ countMax: 10, weightMax: 10 });
    for (let round = 0; round < 20; round++) held.put('a', String(round), 6);
    held.put('b', 'b', 4);
    expect(held.get('a')).toBe('19');
    expect(held.size).toBe(2);
  });
});
