import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Throttle } from './throttle.ts';

describe('a throttle', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('works at once, and once more for all that is asked meanwhile', () => {
    let worked = 0;
    const throttle = new Throttle(
      () => 100,
      () => {
        worked += 1;
      },
    );
    for (let asked = 0; asked < 50; asked += 1) throttle.ask();
    expect(worked).toBe(1);
    vi.advanceTimersByTime(100);
    expect(worked).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(worked).toBe(2);
    throttle.ask();
    expect(worked).toBe(3);
  });
});
