/** A moment at which dates go wrong, and where the machine is that lives through it. */
export interface Instant {
  readonly name: string;
  /** When the run begins; most end on the other side of midnight. */
  readonly at: Date;
  readonly zone: string;
}

interface Occasion {
  readonly name: string;
  /** Which days, in UTC. */
  readonly on: (day: Day) => boolean;
  /** When the run begins, in UTC. */
  readonly clock: string;
  readonly zone: string;
}

interface Day {
  /** January is 1, as a date is written. */
  readonly month: number;
  readonly date: number;
  /** Sunday is 0. */
  readonly weekday: number;
  readonly isLeapYear: boolean;
}

const sunday = 0;
const saturday = 6;

const occasions: readonly Occasion[] = [
  {
    name: 'the end of a year',
    on: (day) => day.month === 12 && day.date === 31,
    clock: '23:59:30',
    zone: 'UTC',
  },
  // Tests go forty days ahead, and an overlap of thirty minutes then crossed the year.
  {
    name: 'forty days before the end of a year',
    on: (day) => day.month === 11 && day.date === 21,
    clock: '23:47:30',
    zone: 'UTC',
  },
  {
    name: 'the end of a month',
    on: (day) => day.month === 4 && day.date === 30,
    clock: '23:59:30',
    zone: 'Pacific/Auckland',
  },
  {
    name: 'the end of a week that ends on Sunday',
    on: (day) => day.weekday === sunday,
    clock: '23:59:30',
    zone: 'UTC',
  },
  {
    name: 'the end of a week that ends on Saturday',
    on: (day) => day.weekday === saturday,
    clock: '23:59:30',
    zone: 'UTC',
  },
  {
    name: 'the eve of 29 February',
    on: (day) => day.month === 2 && day.date === 28 && day.isLeapYear,
    clock: '23:59:30',
    zone: 'UTC',
  },
  {
    name: '29 February',
    on: (day) => day.month === 2 && day.date === 29,
    clock: '12:00:00',
    zone: 'Asia/Kolkata',
  },
  {
    name: 'the end of 29 February',
    on: (day) => day.month === 2 && day.date === 29,
    clock: '23:59:30',
    zone: 'UTC',
  },
  {
    name: 'the beginning of summer time',
    on: (day) => day.month === 3 && day.weekday === sunday && day.date > 24,
    clock: '00:59:30',
    zone: 'Europe/Berlin',
  },
  {
    name: 'the end of summer time',
    on: (day) => day.month === 11 && day.weekday === sunday && day.date < 8,
    clock: '05:59:30',
    zone: 'America/New_York',
  },
];

const dayMs = 86_400_000;

/**
 * The next time that it is so, always ahead of now: libfaketime shows a process the real time in what a signal
 * interrupts, and where that is later Postgres takes every statement that waits for a lock to have run out of its time.
 */
function nextOf({ name, on, clock, zone }: Occasion, nowMs: number): Instant {
  // A day ahead at least: ten instants take half an hour.
  for (let midnight = Math.ceil(nowMs / dayMs + 1) * dayMs; ; midnight += dayMs)
    if (on(dayAt(midnight))) return { name, at: new Date(midnight + clockMs(clock)), zone };
}

function dayAt(midnight: number): Day {
  const day = new Date(midnight);
  return {
    month: day.getUTCMonth() + 1,
    date: day.getUTCDate(),
    weekday: day.getUTCDay(),
    isLeapYear: new Date(Date.UTC(day.getUTCFullYear(), 1, 29)).getUTCMonth() === 1,
  };
}

const clockMs = (clock: string): number => Date.parse(`1970-01-01T${clock}Z`);

/** One of each occasion, in their order. */
export function instantsAfter(nowMs: number): readonly Instant[] {
  return occasions.map((occasion) => nextOf(occasion, nowMs));
}

export const instants = instantsAfter(Date.now());

/**
 * The tests that know time: dates that are computed, windows that begin, tokens
 * and keys that end. Not those that start a data service: under the faked
 * clock they timed out on a loaded machine, for a reason not yet known.
 */
export const suites: readonly string[] = [
  'packages/engine/src/calendar.test.ts',
  'packages/engine/src/windows.test.ts',
  'packages/engine/src/policies.test.ts',
  'packages/jwt/src',
  'packages/pricing/src',
  'services/control-plane/src/people',
  'services/control-plane/src/limits',
  'services/control-plane/test/people',
  'services/control-plane/test/limits',
  'services/control-plane/test/ledger',
  'services/control-plane/test/kernel/http.test.ts',
  'services/control-plane/test/models/integrations.test.ts',
  'services/data-service/src',
  'services/gateway/src/cache',
  'services/gateway/src/jwt-keys',
  'services/gateway/src/limits/request-limits.test.ts',
];

/** One instant of them for every run of all tests, and one file: what failed on a day in November. */
export const shortForm = {
  instant: instants[1] as Instant,
  suites: ['services/control-plane/test/people/api-keys-rules.test.ts'],
};
