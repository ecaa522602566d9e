import { expect, it } from 'vitest';
import { Batches } from './batches.ts';

function batches(over: { keysMax?: number; readingsMax?: number } = {}) {
  const readings: { keys: readonly string[]; answer: (fault?: Error) => void }[] = [];
  const all = new Batches<string>({
    keysMax: 3,
    readingsMax: 1,
    ...over,
    read(keys) {
      const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
      const found = new Map(keys.filter((key) => key !== 'none').map((key) => [key, `${key}!`]));
      readings.push({ keys, answer: (fault) => (fault ? reject(fault) : resolve(found)) });
      return promise;
    },
  });
  return { all, readings };
}

it('reads together what is asked for at once, and what comes meanwhile after that', async () => {
  const { all, readings } = batches();
  const first = [all.get('a'), all.get('b'), all.get('a'), all.get('none')];
  await expect.poll(() => readings.length).toBe(1);
  // Of the same thing, too: what is being read may be from before it changed.
  const second = all.get('a');
  readings[0]?.answer();
  expect(await Promise.all(first)).toEqual(['a!', 'b!', 'a!', undefined]);
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.answer();
  expect(await second).toBe('a!');
  expect(readings.map(({ keys }) => keys)).toEqual([['a', 'b', 'none'], ['a']]);
});

it('reads so many at once, and begins so many readings', async () => {
  const { all, readings } = batches({ readingsMax: 2 });
  const asked = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => all.get(key));
  await expect.poll(() => readings.length).toBe(2);
  expect(readings.map(({ keys }) => keys.length)).toEqual([3, 3]);
  readings[1]?.answer();
  await expect.poll(() => readings.length).toBe(3);
  for (const { answer } of readings) answer();
  expect(await Promise.all(asked)).toHaveLength(7);
});

it('after a reading that failed goes on with the next', async () => {
  const { all, readings } = batches();
  const failing = all.get('a');
  await expect.poll(() => readings.length).toBe(1);
  const next = all.get('b');
  readings[0]?.answer(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.answer();
  expect(await next).toBe('b!');
});
