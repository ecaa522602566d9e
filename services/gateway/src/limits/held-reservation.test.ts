import { expect, it } from 'vitest';
import { reservationPrefix } from './held-reservation.ts';

it('no life of a gateway has reservations that look like marks of freed ones', () => {
  const firsts = Array.from({ length: 256 }, (_, first) => Buffer.from([first, 1, 2, 3, 4, 5]));
  const prefixes = firsts.map(reservationPrefix);
  expect(prefixes.filter((prefix) => prefix.startsWith('-'))).toEqual([]);
  expect(new Set(prefixes).size).toBe(256);
});
