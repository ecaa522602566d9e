/** A moment at which dates go wrong, and where the machine is that lives through it. */
export interface Instant {
  readonly name: string;
  /** When the run begins; most end on the other side of midnight. */
  readonly at: string;
  readonly zone: string;
}

export const instants: readonly Instant[] = [
  { name: 'the end of a year', at: '2026-12-31T23:59:30Z', zone: 'UTC' },
  // Tests go forty days ahead, and an overlap of thirty minutes then crossed the year.
  { name: 'forty days before the end of a year', at: '2026-11-21T23:47:30Z', zone: 'UTC' },
  { name: 'the end of a month', at: '2027-04-30T23:59:30Z', zone: 'Pacific/Auckland' },
  { name: 'the end of a week that ends on Sunday', at: '2027-01-03T23:59:30Z', zone: 'UTC' },
  { name: 'the end of a week that ends on Saturday', at: '2026-12-05T23:59:30Z', zone: 'UTC' },
  { name: 'the eve of 29 February', at: '2028-02-28T23:59:30Z', zone: 'UTC' },
  { name: '29 February', at: '2028-02-29T12:00:00Z', zone: 'Asia/Kolkata' },
  { name: 'the end of 29 February', at: '2028-02-29T23:59:30Z', zone: 'UTC' },
  { name: 'the beginning of summer time', at: '2027-03-28T00:59:30Z', zone: 'Europe/Berlin' },
  { name: 'the end of summer time', at: '2027-11-07T05:59:30Z', zone: 'America/New_York' },
];

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

/** One instant of them for every run of all tests: what failed on a day in November. */
export const shortForm = {
  instant: instants[1] as Instant,
  suites: [
    'packages/engine/src/calendar.test.ts',
    'services/control-plane/src/people/api-keys',
    'services/control-plane/test/people/api-keys-rules.test.ts',
  ],
};
