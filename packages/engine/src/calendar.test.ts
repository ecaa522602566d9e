import { describe, expect, it } from 'vitest';
import { type Cadence, nextOccurrence } from './calendar.ts';

const next = (cadence: Cadence, after: string, more: { weekStartsOn?: 'monday' | 'sunday' } = {}) =>
  nextOccurrence(cadence, { after: new Date(after), ...more })?.toISOString();

describe('nextOccurrence', () => {
  // 2024-02-26 is a Monday, and 2024 has a February 29.
  it.each([
    ['2024-02-26T00:00:00.000Z', '2024-03-04T00:00:00.000Z'],
    ['2024-02-25T23:59:59.999Z', '2024-02-26T00:00:00.000Z'],
    ['2024-02-28T12:00:00.000Z', '2024-03-04T00:00:00.000Z'],
    ['2024-12-31T12:00:00.000Z', '2025-01-06T00:00:00.000Z'],
    ['1969-12-31T12:00:00.000Z', '1970-01-05T00:00:00.000Z'],
  ])('a week after %s begins on Monday %s', (after, expected) => {
    expect(next({ period: 'weekly' }, after)).toBe(expected);
  });

  it.each([
    ['2024-02-24T10:00:00.000Z', '2024-02-25T00:00:00.000Z'],
    ['2024-02-25T00:00:00.000Z', '2024-03-03T00:00:00.000Z'],
  ])('where weeks begin on Sunday, the one after %s does on %s', (after, expected) => {
    expect(next({ period: 'weekly' }, after, { weekStartsOn: 'sunday' })).toBe(expected);
  });

  it.each([
    ['2024-01-31T23:59:59.999Z', '2024-02-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['2023-02-28T23:00:00.000Z', '2023-03-01T00:00:00.000Z'],
    ['2024-03-01T00:00:00.000Z', '2024-04-01T00:00:00.000Z'],
    ['2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z'],
  ])('the month after %s begins on %s', (after, expected) => {
    expect(next({ period: 'monthly' }, after)).toBe(expected);
  });

  it.each([
    [1, '2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00.000Z'],
    [2, '2024-02-28T10:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    [2, '2023-02-28T10:00:00.000Z', '2023-03-02T00:00:00.000Z'],
    [365, '2024-01-01T00:00:00.000Z', '2024-12-31T00:00:00.000Z'],
  ])('%i days after %s comes %s', (days, after, expected) => {
    expect(next({ days }, after)).toBe(expected);
  });

  it('lies after the given time by no more than one period', () => {
    for (let day = 0; day < 1500; day += 1) {
      const after = new Date(Date.UTC(2023, 0, 1) + day * 86_400_000 + (day % 3) * 1000);
      for (const [cadence, longestDays] of [
        [{ period: 'weekly' }, 7],
        [{ period: 'monthly' }, 31],
        [{ days: 13 }, 13],
      ] as const) {
        const found = nextOccurrence(cadence, { after });
        const ahead = (found?.getTime() ?? 0) - after.getTime();
        expect(ahead).toBeGreaterThan(0);
        expect(ahead).toBeLessThanOrEqual(longestDays * 86_400_000);
        expect((found?.getTime() ?? 1) % 86_400_000).toBe(0);
      }
    }
  });

  it('is nothing where nothing recurs', () => {
    expect(next({}, '2024-01-01T00:00:00.000Z')).toBeUndefined();
    expect(next({ period: null, days: null }, '2024-01-01T00:00:00.000Z')).toBeUndefined();
  });
});
