import { describe, expect, it } from 'vitest';
import { windowEndMs, windowStartMs } from './windows.ts';

const at = (iso: string) => Date.parse(iso);

describe('fixed windows', () => {
  it.each([
    ['rps', '2026-11-21T10:20:30.400Z', '2026-11-21T10:20:30.000Z', '2026-11-21T10:20:31.000Z'],
    ['rpm', '2026-11-21T10:20:30.400Z', '2026-11-21T10:20:00.000Z', '2026-11-21T10:21:00.000Z'],
    ['rph', '2026-11-21T10:20:30.400Z', '2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z'],
    ['rpd', '2026-11-21T10:20:30.400Z', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['rpw', '2026-11-21T10:20:30.400Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ] as const)('%s begins and ends on the clock', (unit, now, start, end) => {
    expect(windowStartMs(unit, at(now))).toBe(at(start));
    expect(windowEndMs(unit, at(now))).toBe(at(end));
  });

  it('begins a week on Monday 00:00 UTC exactly', () => {
    expect(windowStartMs('rpw', at('2026-11-16T00:00:00.000Z'))).toBe(
      at('2026-11-16T00:00:00.000Z'),
    );
    expect(windowStartMs('rpw', at('2026-11-15T23:59:59.999Z'))).toBe(
      at('2026-11-09T00:00:00.000Z'),
    );
  });
});
