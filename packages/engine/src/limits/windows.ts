/** Fixed windows on the wall clock, UTC. Weeks begin on Monday 00:00. */
export type RateUnit = 'rps' | 'rpm' | 'rph' | 'rpd' | 'rpw';

const dayMs = 86_400_000;

export const windowMs: Readonly<Record<RateUnit, number>> = {
  rps: 1000,
  rpm: 60_000,
  rph: 3_600_000,
  rpd: dayMs,
  rpw: 7 * dayMs,
};

/** 1970-01-01 was a Thursday: three days after a Monday. */
const weekOffsetMs = 3 * dayMs;

export function isRateUnit(value: string): value is RateUnit {
  return value in windowMs;
}

/** Offset that, added before dividing by the length, makes windows start where the unit says. */
export function windowOffsetMs(unit: RateUnit): number {
  return unit === 'rpw' ? weekOffsetMs : 0;
}
