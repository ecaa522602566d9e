import { expect, it } from 'vitest';
import { SeenIds } from './seen-ids.ts';

it('an id that was there before is found among 100,000', () => {
  const seen = new SeenIds();
  let doubled = 0;
  for (let line = 1; line <= 100_000; line += 1)
    doubled += seen.add(`id ${line}`, line) === undefined ? 0 : 1;
  expect(doubled).toBe(0);
  expect(seen.add('id 1', 100_001)).toBe(1);
  expect(seen.add('id 100000', 100_002)).toBe(100_000);
  expect([seen.has('id 77777'), seen.has('id 100001'), seen.has('')]).toEqual([true, false, false]);
});
