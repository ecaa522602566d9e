export const dayMs = 86_400_000;

/**
 * A day is sealed so long after its end: what is stored by then counts with it. From this age on, the intake looks
 * whether it has a record already, so that when a sealed one was stored stays as it was.
 */
export const settledAfterMs = 6 * 3_600_000;
/** Inserts that began before then have ended. */
const insertMs = 600_000;

/** `2026-03-10`, of a time in that day. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

export function dayStartMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function nextDay(day: string): string {
  return dayOf(dayStartMs(day) + dayMs);
}

/** The last day that may be sealed. */
export function lastDueDay(nowMs: number): string {
  return dayOf(nowMs - settledAfterMs - insertMs - dayMs);
}

/** The day that a row is sealed with: that of the record, or a later one where it was stored late. */
export const sealDay = `greatest(toDate(created_at), toDate(stored_at - INTERVAL ${settledAfterMs} MILLISECOND))`;
