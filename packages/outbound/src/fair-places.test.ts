import { describe, expect, it } from 'vitest';
import { FairPlaces, type Leave } from './fair-places.ts';

/** Places, and who began in which order. */
function example(options: { ownerMax: number; allMax: number; waitingMax?: number }) {
  const places = new FairPlaces({ what: 'a test', waitingMax: 100, ...options });
  const began: string[] = [];
  const leaves: Leave[] = [];
  return {
    places,
    began,
    leaves,
    enter: (owner: string, name = owner) =>
      leaves.push(places.enter(owner, () => began.push(name))) - 1,
  };
}

describe('fair places', () => {
  it('are for each owner, as long as there are enough for all', () => {
    const { enter, began, leaves } = example({ ownerMax: 2, allMax: 10 });
    for (const name of ['a1', 'a2', 'a3']) enter('a', name);
    enter('b');
    expect(began).toEqual(['a1', 'a2', 'b']);
    leaves[0]!();
    expect(began).toEqual(['a1', 'a2', 'b', 'a3']);
  });

  it('go round among owners when all are taken, however many of one wait', () => {
    const { enter, began, leaves } = example({ ownerMax: 2, allMax: 2 });
    for (let i = 0; i < 50; i += 1) enter('a', `a${i}`);
    for (const owner of ['b', 'c']) enter(owner);
    leaves[0]!();
    leaves[1]!();
    expect(began).toEqual(['a0', 'a1', 'b', 'c']);
  });

  it('are given back once, and not taken by who has left the line', () => {
    const { enter, began, leaves, places } = example({ ownerMax: 1, allMax: 1 });
    enter('a', 'first');
    enter('a', 'gone');
    enter('a', 'last');
    leaves[1]!();
    leaves[0]!();
    leaves[0]!();
    expect(began).toEqual(['first', 'last']);
    expect([places.running, places.waiting]).toEqual([1, 0]);
    leaves[2]!();
    expect([places.running, places.waiting]).toEqual([0, 0]);
  });

  it('refuse who comes when too many of the same owner wait', () => {
    const { enter } = example({ ownerMax: 1, allMax: 1, waitingMax: 1 });
    enter('a');
    enter('a');
    expect(() => enter('a')).toThrow(expect.objectContaining({ code: 'upstream.unreachable' }));
    expect(() => enter('b')).not.toThrow();
  });

  it('are never more than there are, and never fewer than could be used, in any order', () => {
    const { places, leaves } = example({ ownerMax: 3, allMax: 7 });
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const running = new Map<string, number>();
    for (let step = 0; step < 5_000; step += 1) {
      const owner = `o${random(6)}`;
      if (random(2) === 0 && leaves.length < 60) {
        let began = false;
        const leave = places.enter(owner, () => {
          began = true;
          running.set(owner, (running.get(owner) ?? 0) + 1);
          expect(running.get(owner)).toBeLessThanOrEqual(3);
        });
        leaves.push(() => {
          if (began) running.set(owner, (running.get(owner) ?? 0) - 1);
          leave();
        });
      } else leaves.splice(random(Math.max(1, leaves.length)), 1)[0]?.();
      expect(places.running).toBeLessThanOrEqual(7);
      if (places.waiting > 0 && places.running < 7)
        expect([...running.values()].filter((count) => count === 3).length).toBeGreaterThan(0);
    }
    for (const leave of leaves.splice(0)) leave();
    expect([places.running, places.waiting]).toEqual([0, 0]);
  });
});
