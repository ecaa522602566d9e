import { expect, it } from 'vitest';
import { instantsAfter, shortForm } from './instants.ts';
import { runAt } from './run-at.ts';

it('what is computed from dates holds at the instant at which it once did not', {
  timeout: 300_000,
}, () => {
  const { passed, output } = runAt(shortForm.instant, shortForm.suites);
  expect(passed, output).toBe(true);
});

it('the instants are the next of their kind, and ahead whatever the day', () => {
  const shown = (day: string) =>
    instantsAfter(Date.parse(day)).map(({ at }) => at.toISOString().slice(0, 16));
  expect(shown('2026-11-19T10:00:00Z')).toEqual([
    '2026-12-31T23:59',
    '2026-11-21T23:47',
    '2027-04-30T23:59',
    '2026-11-22T23:59',
    '2026-11-21T23:59',
    '2028-02-28T23:59',
    '2028-02-29T12:00',
    '2028-02-29T23:59',
    '2027-03-28T00:59',
    '2027-11-07T05:59',
  ]);
  for (let day = 0; day < 1500; day += 13) {
    const now = Date.UTC(2026, 0, 1, 23, 59) + day * 86_400_000;
    for (const { name, at } of instantsAfter(now))
      expect(at.getTime() - now, name).toBeGreaterThan(86_400_000);
  }
});
