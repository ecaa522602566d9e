import { describe, expect, it } from 'vitest';
import { planUsageReset, type UsageReset } from './usage-reset.ts';

const now = new Date('2024-12-30T15:00:00Z'); // A Monday.
const at = (text: string) => new Date(`${text}T00:00:00.000Z`);
const monday = { now, weekStartsOn: 'monday', path: 'body' } as const;
const weekly: UsageReset = {
  periodic_reset: 'weekly',
  periodic_reset_days: null,
  nextAt: at('2025-01-13'),
};

describe('planUsageReset', () => {
  it.each([
    [{ periodic_reset: 'weekly' }, '2025-01-06'],
    [{ periodic_reset: 'monthly' }, '2025-01-01'],
    [{ periodic_reset_days: 3 }, '2025-01-02'],
    [{ next_usage_reset_at: new Date('2025-02-28T12:00:00Z') }, '2025-02-28'],
  ] as const)('of %j is next due at %s', (sent, expected) => {
    expect(planUsageReset(sent, undefined, monday).nextAt).toEqual(at(expected));
  });

  it('begins weeks on Sunday where keys are meant', () => {
    const sunday = { ...monday, weekStartsOn: 'sunday' } as const;
    expect(planUsageReset({ periodic_reset: 'weekly' }, undefined, sunday).nextAt).toEqual(
      at('2025-01-05'),
    );
  });

  it('lets one cadence take the place of the other, and null end it', () => {
    expect(planUsageReset({ periodic_reset_days: 5 }, weekly, monday)).toEqual({
      periodic_reset: null,
      periodic_reset_days: 5,
      nextAt: at('2025-01-04'),
    });
    const daily: UsageReset = { periodic_reset: null, periodic_reset_days: 5, nextAt: now };
    expect(planUsageReset({ periodic_reset: 'monthly' }, daily, monday)).toEqual({
      periodic_reset: 'monthly',
      periodic_reset_days: null,
      nextAt: at('2025-01-01'),
    });
    expect(planUsageReset({ periodic_reset: null }, weekly, monday)).toEqual({
      periodic_reset: null,
      periodic_reset_days: null,
      nextAt: null,
    });
    expect(planUsageReset({ periodic_reset: null }, daily, monday)).toEqual(daily);
  });

  it('keeps the date while the cadence stays; null gives the one that follows from it', () => {
    expect(planUsageReset({}, weekly, monday)).toEqual(weekly);
    expect(planUsageReset({ periodic_reset: 'weekly' }, weekly, monday)).toEqual(weekly);
    expect(planUsageReset({ next_usage_reset_at: null }, weekly, monday).nextAt).toEqual(
      at('2025-01-06'),
    );
  });

  it('takes no date that is over, except the one it has', () => {
    const today = { next_usage_reset_at: new Date('2024-12-30T20:00:00Z') };
    expect(() => planUsageReset(today, weekly, monday)).toThrow();
    const due = { ...weekly, nextAt: at('2024-12-30') };
    expect(planUsageReset(today, due, monday)).toEqual(due);
  });
});
