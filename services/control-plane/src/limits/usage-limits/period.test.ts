import { describe, expect, it } from 'vitest';
import { type KeptPeriod, movedOn, notPassed } from './period.ts';

const at = (text: string) => new Date(`${text}T00:00:00.000Z`);
const weekly: KeptPeriod = {
  generation: 2,
  startedAt: null,
  nextAt: at('2026-03-01'), // A Sunday.
  periodic_reset: 'weekly',
  periodic_reset_days: null,
};

describe('the period of a row', () => {
  it('moves on to now, over whatever it missed', () => {
    expect(movedOn(weekly, 'holder', at('2026-02-28'))).toEqual(weekly);
    expect(movedOn(weekly, 'holder', at('2026-03-25'))).toEqual({
      ...weekly,
      startedAt: at('2026-03-22'),
      nextAt: at('2026-03-29'),
    });
    // Weeks of policies begin a day later.
    expect(movedOn(weekly, 'policy', at('2026-03-25'))).toMatchObject({
      startedAt: at('2026-03-23'),
      nextAt: at('2026-03-30'),
    });
  });

  it.each([
    ['what was shown before it passed', '2026-03-01', undefined],
    ['what was shown after that', '2026-03-15', undefined],
    ['another day of the past', '2026-03-16', at('2026-03-16')],
    ['a day to come', '2026-03-26', at('2026-03-26')],
  ])('takes %s for what it means', (_case, sent, meant) => {
    expect(notPassed(weekly, 'holder', at(sent), at('2026-03-25'))).toEqual(meant);
  });
});
