import { describe, expect, it } from 'vitest';
import type { Seen } from './look-at-work.ts';
import { nextLook } from './next-look.ts';

const pace = { intervalMs: 10_000, longestMs: 3_600_000 };
const failed: Seen = { kind: 'failed', reason: 'status 503' };
const after = (seen: Seen, ageMs: number, failures = 0) =>
  nextLook(seen, pace, { ageMs, failures });

describe('the next look', () => {
  it('comes at the interval while work is young, by a tenth of its age later, within ten minutes', () => {
    const ages = [0, 90_000, 200_000, 3_599_999];
    expect(ages.map((ageMs) => after({ kind: 'open' }, ageMs).afterMs)).toEqual([
      10_000, 10_000, 20_000, 360_000,
    ]);
    const day = nextLook(
      { kind: 'open' },
      { ...pace, longestMs: 1e9 },
      { ageMs: 8e7, failures: 0 },
    );
    expect(day.afterMs).toBe(600_000);
    const slow = { intervalMs: 1_800_000, longestMs: 1e9 };
    expect(nextLook(failed, slow, { ageMs: 0, failures: 9 }).afterMs).toBe(1_800_000);
  });

  it('is put off where one comes to nothing, until one does not', () => {
    expect([0, 1, 2, 20].map((failures) => after(failed, 0, failures))).toMatchObject([
      { failures: 1, afterMs: 20_000 },
      { failures: 2, afterMs: 40_000 },
      { failures: 3, afterMs: 80_000 },
      { failures: 21, afterMs: 600_000 },
    ]);
    expect(after({ kind: 'open' }, 0, 5)).toMatchObject({ failures: 0, afterMs: 10_000 });
  });

  it('is the last where there is nothing to wait for, and says why', () => {
    expect(after({ kind: 'ended', reason: 'completed' }, 9e9)).toMatchObject({
      state: 'ended',
      reason: 'completed',
    });
    expect(after({ kind: 'gone', reason: 'auth.invalid_key' }, 0).state).toBe('gone');
    expect(after({ kind: 'missing' }, 0, 1)).toMatchObject({ state: 'open', failures: 2 });
    expect(after({ kind: 'missing' }, 0, 2).state).toBe('gone');
    expect(after({ kind: 'open' }, 3_600_000)).toMatchObject({ state: 'lost', afterMs: 0 });
    expect(after(failed, 3_600_000)).toMatchObject({ state: 'lost', reason: 'status 503' });
  });
});
