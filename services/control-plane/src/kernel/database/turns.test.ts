import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

it('takes so many at a time, in their order, whatever becomes of them', async () => {
  const turns = new Turns(2);
  const begun: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const all = Array.from({ length: 5 }, (_, number) =>
    turns.take(() => {
      begun.push(number);
      ends[number] = Promise.withResolvers();
      return ends[number].promise;
    }),
  );
  const outcomes = Promise.allSettled(all);
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('a fault'));
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[0]?.resolve();
  ends[2]?.resolve();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4]);
  for (const end of ends) end.resolve();
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  await turns.take(async () => begun.push(5));
  expect(begun.at(-1)).toBe(5);
});
