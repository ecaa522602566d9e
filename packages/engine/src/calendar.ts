/** What comes back at 00:00 UTC: each week, on the first of each month, or every so many days. */
export interface Cadence {
  period?: 'weekly' | 'monthly' | null | undefined;
  days?: number | null | undefined;
}

const dayMs = 86_400_000;
const weekdays = { sunday: 0, monday: 1 } as const;

/** The beginning of the date's day, UTC. */
export function midnightOf(date: Date): Date {
  return new Date(Math.floor(date.getTime() / dayMs) * dayMs);
}

/** The first time after `after` that the cadence names, days counted from its day; nothing for one that names none. */
export function nextOccurrence(
  cadence: Cadence,
  when: { after: Date; weekStartsOn?: keyof typeof weekdays },
): Date | undefined {
  const { after } = when;
  const today = midnightOf(after);
  if (cadence.days != null) return new Date(today.getTime() + cadence.days * dayMs);
  if (cadence.period === 'monthly')
    return new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth() + 1, 1));
  if (cadence.period !== 'weekly') return undefined;
  const weekday = weekdays[when.weekStartsOn ?? 'monday'];
  const days = (weekday - today.getUTCDay() + 7) % 7 || 7;
  return new Date(today.getTime() + days * dayMs);
}
