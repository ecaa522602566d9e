import { expect, it } from 'vitest';
import { eachWith, inTurns, isLongForm } from './long-form.ts';

const cases = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

it('a third of the cases, each in one of three turns, and all of them in the long form', () => {
  const turns = [0, 1, 2].map((turn) => inTurns(cases, 3, turn));
  const thirds = [
    ['a', 'd', 'g'],
    ['c', 'f'],
    ['b', 'e'],
  ];
  expect(turns).toEqual(isLongForm ? [cases, cases, cases] : thirds);
  expect(inTurns(cases, 3, 5)).toEqual(inTurns(cases, 3, 2));
});

it('one at least, whatever the turn', () => {
  for (const turn of [0, 1, 2, 3, 4]) {
    expect(inTurns(['a'], 5, turn)).toEqual(['a']);
    expect(inTurns(['a', 'b'], 5, turn).length).toBeGreaterThanOrEqual(1);
  }
  expect(inTurns([], 5)).toEqual([]);
});

it('each of both at least once, and each with each in the long form', () => {
  for (const turn of [0, 1, 4]) {
    for (const others of [[1, 2, 3], [1], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const pairs = eachWith(cases, others, turn);
      expect(new Set(pairs.map(([one]) => one))).toEqual(new Set(cases));
      expect(new Set(pairs.map(([, other]) => other))).toEqual(new Set(others));
      const most = Math.max(cases.length, others.length);
      expect(pairs).toHaveLength(isLongForm ? cases.length * others.length : most);
    }
  }
  expect(eachWith([], cases)).toEqual([]);
});
