import { expect, it } from 'vitest';
import { Pace } from './pace.ts';

const rules = { linesPerInterval: 25, intervalMs: 5_000 };

function begun(pace: Pace, lines: number, untilMs: number): number {
  let left = lines;
  for (let now = 0; left > 0 && now < untilMs; ) {
    const wait = pace.take(left, now);
    if (wait === 0) left -= 1;
    else now += wait;
  }
  return lines - left;
}

it('a batch with time begins so many lines an interval', () => {
  expect(begun(new Pace(rules, 24 * 3_600_000), 10_000, 5_000)).toBe(25);
  expect(begun(new Pace(rules, 24 * 3_600_000), 10_000, 60_000)).toBe(300);
});

it('and more where it would not be done in time', () => {
  expect(begun(new Pace(rules, 3_600_000), 50_000, 3_600_000)).toBe(50_000);
});
