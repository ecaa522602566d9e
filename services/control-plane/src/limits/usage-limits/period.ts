import { midnightOf, type Period, periodAt } from '@sluice/engine';

/** On which day the weeks of budgets begin, by whose they are. */
export const weekStarts = { holder: 'sunday', policy: 'monday' } as const;

/** When a budget begins anew, as its row says. */
export interface KeptPeriod {
  generation: number;
  startedAt: Date | null;
  nextAt: Date | null;
  periodic_reset: 'weekly' | 'monthly' | null;
  periodic_reset_days: number | null;
}

export function periodOf(kept: KeptPeriod, of: keyof typeof weekStarts): Period {
  return {
    generation: kept.generation,
    startedAtMs: kept.startedAt?.getTime() ?? 0,
    nextResetAtMs: kept.nextAt?.getTime() ?? 0,
    cadence: kept.periodic_reset ?? (kept.periodic_reset_days === null ? '' : 'days'),
    days: kept.periodic_reset_days ?? 0,
    weeksBeginOnSunday: weekStarts[of] === 'sunday',
  };
}

/** The date unless it is one that the row passed on its way to now: whoever sends back what was shown means what follows. */
export function notPassed(
  kept: KeptPeriod,
  of: keyof typeof weekStarts,
  date: Date | null | undefined,
  now: Date,
): Date | null | undefined {
  if (date == null || date > now) return date;
  const ms = midnightOf(date).getTime();
  return periodAt(periodOf(kept, of), ms).startedAtMs === ms ? undefined : date;
}

/** The row's dates as they stand now: those that lie behind are passed over. */
export function movedOn<K extends KeptPeriod>(kept: K, of: keyof typeof weekStarts, now: Date): K {
  const { startedAtMs, nextResetAtMs } = periodAt(periodOf(kept, of), now.getTime());
  return { ...kept, startedAt: dateOf(startedAtMs), nextAt: dateOf(nextResetAtMs) };
}

function dateOf(ms: number): Date | null {
  return ms === 0 ? null : new Date(ms);
}
