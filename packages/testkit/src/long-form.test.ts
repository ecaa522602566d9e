import { expect, it } from 'vitest';
import { inTurns, isLongForm } from './long-form.ts';

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
