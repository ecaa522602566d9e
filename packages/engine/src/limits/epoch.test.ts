import { describe, expect, it } from 'vitest';
import { windowEpoch } from './epoch.ts';

const at = (iso: string) => Date.parse(iso);

describe('windows of rates', () => {
  it.each([
    ['rps', '2026-11-21T10:20:30.400Z', '2026-11-21T10:20:30.000Z', '2026-11-21T10:20:31.000Z'],
    ['rpm', '2026-11-21T10:20:30.400Z', '2026-11-21T10:20:00.000Z', '2026-11-21T10:21:00.000Z'],
    ['rph', '2026-11-21T10:20:30.400Z', '2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z'],
    ['rpd', '2026-11-21T10:20:30.400Z', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['rpw', '2026-11-21T10:20:30.400Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    // Over the end of a year, a Sunday's last moment, and a day that few years have.
    ['rpw', '2027-01-01T00:00:00.000Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['rpw', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['rpd', '2028-02-29T23:59:59.999Z', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['rph', '2028-02-29T23:59:59.999Z', '2028-02-29T23:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    // Where summer time begins, and ends: windows are those of UTC.
    ['rph', '2026-03-29T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-29T02:00:00.000Z'],
    ['rpd', '2026-10-25T01:30:00.000Z', '2026-10-25T00:00:00.000Z', '2026-10-26T00:00:00.000Z'],
  ] as const)('%s begins and ends on the clock', (unit, now, start, end) => {
    expect(windowEpoch(unit, at(now))).toMatchObject({ startMs: at(start), endMs: at(end) });
    // To the millisecond, and each its own number.
    expect(windowEpoch(unit, at(start))).toEqual(windowEpoch(unit, at(end) - 1));
    const next = windowEpoch(unit, at(end));
    expect(next.startMs).toBe(at(end));
    expect(next.name).not.toBe(windowEpoch(unit, at(now)).name);
  });
});
