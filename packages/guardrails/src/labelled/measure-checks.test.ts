import { expect, it } from 'vitest';
import { measureChecks } from './measure-checks.ts';

it('finds on lines that no rule was made by what the docs promise', async () => {
  const { qualities } = await measureChecks();
  const poor = qualities.filter(({ precision, recall }) => precision < 0.85 || recall < 0.75);
  expect(poor).toEqual([]);
});
