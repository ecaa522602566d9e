import { expect, it } from 'vitest';
import { slowestText } from './slowest-files.ts';

it('lists the ten files that took most CPU, the dearest first, and nothing of a small run', () => {
  const files = Array.from({ length: 25 }, (_, at) => ({
    path: `f${at}.test.ts`,
    ms: 10_000 - at * 100,
    cpu: { ownMs: at * 100, startedMs: 1000 },
  }));
  const lines = slowestText(files, 2500)?.trimEnd().split('\n').slice(1) ?? [];
  expect(lines[0]).toMatch(/^Slowest 10 of 25 files/);
  expect(lines[1]).toBe('     2.4     1.0     7.6  f24.test.ts');
  expect(lines.at(-1)).toBe('    30.0    25.0          all files; the runner 2.5');
  expect(lines).toHaveLength(12);
  expect(slowestText(files.slice(0, 3), 2500)).toBeUndefined();
});

it('goes by the clock where CPU cannot be told', () => {
  const files = Array.from({ length: 20 }, (_, at) => ({
    path: `f${at}.test.ts`,
    ms: at * 100,
    cpu: undefined,
  }));
  expect(slowestText(files, undefined)).toContain('       -       -     1.9  f19.test.ts\n');
});
