import { expect, it } from 'vitest';
import { slowestText } from './slowest-files.ts';

it('lists the ten files that took longest, the longest first, and nothing of a small run', () => {
  const files = Array.from({ length: 25 }, (_, at) => ({ path: `f${at}.test.ts`, ms: at * 100 }));
  const lines = slowestText(files)?.trim().split('\n') ?? [];
  expect(lines[0]).toBe('Slowest 10 of 25 files:');
  expect(lines[1]).toBe('     2.4 s  f24.test.ts');
  expect(lines).toHaveLength(11);
  expect(slowestText(files.slice(0, 3))).toBeUndefined();
});
