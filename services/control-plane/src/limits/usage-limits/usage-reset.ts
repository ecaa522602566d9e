import { midnightOf, nextOccurrence } from '@sluice/engine';
import { invalidField } from '@sluice/errors';

/** How often a counter is emptied, and when next. */
export interface UsageReset {
  periodic_reset: 'weekly' | 'monthly' | null;
  periodic_reset_days: number | null;
  nextAt: Date | null;
}

/** What was sent of it: what is left out stays, null clears. */
export interface SentUsageReset {
  periodic_reset?: 'weekly' | 'monthly' | null | undefined;
  periodic_reset_days?: number | null | undefined;
  next_usage_reset_at?: Date | null | undefined;
}

const never: UsageReset = { periodic_reset: null, periodic_reset_days: null, nextAt: null };

/**
 * When a counter is emptied from now on. One cadence takes the place of the
 * other. A date that was sent is the next one, moved to 00:00 UTC; else the
 * next one follows from the cadence, and stays while the cadence does.
 * @param stored  of a counter that exists
 * @param options.path  of the object that holds the fields, for the error
 * @throws 400 when the date is over
 */
export function planUsageReset(
  sent: SentUsageReset,
  stored: UsageReset | undefined,
  options: { now: Date; weekStartsOn: 'monday' | 'sunday'; path: string },
): UsageReset {
  const before = stored ?? never;
  const cadence = {
    periodic_reset:
      sent.periodic_reset === undefined && sent.periodic_reset_days == null
        ? before.periodic_reset
        : (sent.periodic_reset ?? null),
    periodic_reset_days:
      sent.periodic_reset_days === undefined && sent.periodic_reset == null
        ? before.periodic_reset_days
        : (sent.periodic_reset_days ?? null),
  };
  const { now, weekStartsOn } = options;
  const date = sent.next_usage_reset_at;
  if (date != null) {
    const nextAt = midnightOf(date);
    if (nextAt <= now && nextAt.getTime() !== before.nextAt?.getTime())
      throw invalidField(
        `${options.path}.next_usage_reset_at`,
        `must lie in the future; it stands for ${nextAt.toISOString()}`,
      );
    return { ...cadence, nextAt };
  }
  const isKept =
    date === undefined &&
    cadence.periodic_reset === before.periodic_reset &&
    cadence.periodic_reset_days === before.periodic_reset_days;
  const following = nextOccurrence(
    { period: cadence.periodic_reset, days: cadence.periodic_reset_days },
    { after: now, weekStartsOn },
  );
  return { ...cadence, nextAt: (isKept ? before.nextAt : null) ?? following ?? null };
}
