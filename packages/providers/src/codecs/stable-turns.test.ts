import { describe, expect, it } from 'vitest';
import { stableTurns } from './stable-turns.ts';

describe('stableTurns', () => {
  it.each<[string, string, number[]]>([
    ['what is asked for the first time', 'system user', []],
    ['the question before the last answer, and the one behind it', 'user assistant user', [2, 0]],
    ['the last of each, however many there are', 'system user user assistant tool tool', [5, 2]],
    ['no more than two', 'user assistant user assistant user', [4, 2]],
    ['turns around a begun answer', 'user assistant user assistant', [2, 0]],
    ['what the system said since', 'user assistant user system', [2, 0]],
    ['nothing', '', []],
  ])('finds %s', (_, roles, expected) => {
    expect(stableTurns(roles.split(' '))).toEqual(expected);
  });
});
