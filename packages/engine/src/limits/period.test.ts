import { describe, expect, it } from 'vitest';
import { type Period, periodAt } from './period.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const period = (change: Partial<Period> = {}): Period => ({
  generation: 3,
  startedAtMs: 0,
  nextResetAtMs: 0,
  cadence: '',
  days: 0,
  weeksBeginOnSunday: false,
  ...change,
});
const startOf = (of: Period, nowMs: number) => periodAt(of, nowMs).startedAtMs;
const shown = (changed: Partial<Period>, now: string) => {
  const { startedAtMs, nextResetAtMs } = periodAt(period(changed), at(now));
  const text = (ms: number) => (ms === 0 ? 'none' : new Date(ms).toISOString().slice(0, 16));
  return `${text(startedAtMs)} .. ${text(nextResetAtMs)}`;
};

describe('a period', () => {
  it('without a next reset is one for ever', () => {
    expect(startOf(period(), at('2026-01-01T00:00'))).toBe(0);
    expect(startOf(period({ cadence: 'weekly' }), at('2099-01-01T00:00'))).toBe(0);
  });

  it('ends at its reset, to the millisecond', () => {
    const next = at('2026-03-01T00:00');
    const monthly = period({ cadence: 'monthly', nextResetAtMs: next });
    expect([next - 1, next].map((now) => startOf(monthly, now))).toEqual([0, next]);
  });

  it.each([
    [
      'a date alone',
      { nextResetAtMs: at('2026-03-05T00:00') },
      '2026-09-01T10:00',
      '2026-03-05T00:00 .. none',
    ],
    [
      'weeks from Monday',
      { cadence: 'weekly', nextResetAtMs: at('2026-03-02T00:00') },
      '2026-03-08T23:59:59.999',
      '2026-03-02T00:00 .. 2026-03-09T00:00',
    ],
    [
      'weeks from Sunday',
      { cadence: 'weekly', weeksBeginOnSunday: true, nextResetAtMs: at('2026-03-01T00:00') },
      '2026-03-08T00:00',
      '2026-03-08T00:00 .. 2026-03-15T00:00',
    ],
    [
      'weeks after a date of its own',
      { cadence: 'weekly', nextResetAtMs: at('2026-03-05T00:00') },
      '2026-03-06T00:00',
      '2026-03-05T00:00 .. 2026-03-09T00:00',
    ],
    [
      'months with 29 February',
      { cadence: 'monthly', nextResetAtMs: at('2028-02-01T00:00') },
      '2028-02-29T23:59:59.999',
      '2028-02-01T00:00 .. 2028-03-01T00:00',
    ],
    [
      'months over a year',
      { cadence: 'monthly', nextResetAtMs: at('2026-12-15T00:00') },
      '2026-12-31T23:59',
      '2026-12-15T00:00 .. 2027-01-01T00:00',
    ],
    [
      'days counted from the date',
      { cadence: 'days', days: 30, nextResetAtMs: at('2026-01-10T00:00') },
      '2026-02-09T00:00',
      '2026-02-09T00:00 .. 2026-03-11T00:00',
    ],
  ] as const)('of %s', (_case, changed, now, expected) => {
    expect(shown(changed, now)).toBe(expected);
  });

  it.each([
    ['weekly', { cadence: 'weekly' }],
    ['Sundays', { cadence: 'weekly', weeksBeginOnSunday: true }],
    ['monthly', { cadence: 'monthly' }],
    ['each 10 days', { cadence: 'days', days: 10 }],
  ])(
    'that ended three times while nobody looked is one new epoch, by any state of it: %s',
    (_case, changed) => {
      const first = period({ ...changed, nextResetAtMs: at('2026-02-01T00:00') });
      let stepwise = first;
      for (let day = 1; day <= 95; day += 1)
        stepwise = periodAt(stepwise, at('2026-02-01T12:00') + day * 86_400_000);
      for (const hours of [0, 1, 23, 30 * 24, 400 * 24]) {
        const now = at('2026-05-08T12:00') + hours * 3_600_000;
        expect(periodAt(first, now)).toEqual(periodAt(stepwise, now));
      }
    },
  );

  it('is the same in every zone of the machine, those with summer time and half hours too', () => {
    const zone = process.env.TZ;
    const ends = () =>
      ['2026-03-08', '2026-03-29', '2026-04-05', '2026-10-04', '2026-10-25', '2026-11-01'].flatMap(
        (day) =>
          (['weekly', 'monthly', 'days'] as const).flatMap((cadence) =>
            ['T00:00', 'T02:30', 'T23:59:59.999'].map((time) =>
              shown({ cadence, days: 1, nextResetAtMs: at('2026-03-01T00:00') }, `${day}${time}`),
            ),
          ),
      );
    try {
      process.env.TZ = 'UTC';
      const expected = ends();
      for (const other of ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe']) {
        process.env.TZ = other;
        expect(new Date(at('2026-07-01T00:00')).getTimezoneOffset()).not.toBe(0);
        expect(ends()).toEqual(expected);
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it('goes on unchanged where summer time begins: days are those of UTC', () => {
    const days = { cadence: 'days', days: 1, nextResetAtMs: at('2026-03-28T00:00') };
    expect(shown(days, '2026-03-29T03:00')).toBe('2026-03-29T00:00 .. 2026-03-30T00:00');
  });
});
