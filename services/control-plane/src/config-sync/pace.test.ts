import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('lets the first begin at once and the others so far apart, but for those who went', () => {
  const pace = new Pace(20);
  const begun: number[] = [];
  const cancels = [0, 1, 2, 3].map((number) => pace.begin(() => begun.push(number)));
  expect(begun).toEqual([0]);
  cancels[2]?.();
  vi.advanceTimersByTime(20);
  expect(begun).toEqual([0, 1]);
  vi.advanceTimersByTime(60);
  expect(begun).toEqual([0, 1, 3]);
  pace.begin(() => begun.push(4));
  expect(begun).toEqual([0, 1, 3, 4]);
});
