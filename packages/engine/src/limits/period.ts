const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** Of the first Sunday and Monday after 1970-01-01, a Thursday. */
const firstSundayMs = 3 * dayMs;
const firstMondayMs = 4 * dayMs;

/** When the count of a budget begins anew, as the bundle says it. */
export interface Period {
  /** Raised by every reset by hand, and by a change of what is counted. */
  readonly generation: number;
  /** The last reset by the clock; 0 = there was none. */
  readonly startedAtMs: number;
  /** 0 = never. */
  readonly nextResetAtMs: number;
  /** `weekly`, `monthly`, `days`, or empty: `nextResetAtMs` is the only one. */
  readonly cadence: string;
  /** Of `days`. */
  readonly days: number;
  readonly weeksBeginOnSunday: boolean;
}

/**
 * The same period as it stands at a time: what ended since is passed over, however
 * often. A state that was read before a reset and one that was read after it come
 * to the same.
 */
export function periodAt<P extends Period>(period: P, nowMs: number): P {
  const { nextResetAtMs: next } = period;
  if (next === 0 || nowMs < next) return period;
  switch (period.cadence) {
    case 'weekly': {
      const start = Math.max(next, weekStartMs(nowMs, period.weeksBeginOnSunday));
      return { ...period, startedAtMs: start, nextResetAtMs: weekEndMs(start, period) };
    }
    case 'monthly': {
      const start = Math.max(next, monthStartMs(nowMs, 0));
      return { ...period, startedAtMs: start, nextResetAtMs: monthStartMs(start, 1) };
    }
    case 'days': {
      const stepMs = Math.max(1, period.days) * dayMs;
      const start = next + Math.floor((nowMs - next) / stepMs) * stepMs;
      return { ...period, startedAtMs: start, nextResetAtMs: start + stepMs };
    }
    default:
      return { ...period, startedAtMs: next, nextResetAtMs: 0 };
  }
}

function weekStartMs(atMs: number, onSunday: boolean): number {
  const firstMs = onSunday ? firstSundayMs : firstMondayMs;
  return Math.floor((atMs - firstMs) / weekMs) * weekMs + firstMs;
}

function weekEndMs(atMs: number, { weeksBeginOnSunday }: Period): number {
  return weekStartMs(atMs, weeksBeginOnSunday) + weekMs;
}

function monthStartMs(atMs: number, monthsLater: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater, 1);
}
