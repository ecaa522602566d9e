import { uuidText } from '@sluice/usage';
import { describe, expect, it } from 'vitest';
import { uuidTimeMs, uuidV7 } from './uuid.ts';

describe('uuidV7', () => {
  it('carries the time, the version and the variant, and sorts by time', () => {
    const early = uuidText(uuidV7(1_700_000_000_000));
    const late = uuidText(uuidV7(1_700_000_000_001));
    expect(early).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(early < late).toBe(true);
  });

  it('tells its time', () => {
    expect(uuidTimeMs(uuidV7(1_700_000_000_000))).toBe(1_700_000_000_000);
  });

  it('sorts as they were made, within a millisecond and beside ids of times that are past', () => {
    const now = 1_900_000_000_000;
    const made = Array.from({ length: 1_000 }, (_, at) => {
      uuidV7(now - 1 - (at % 3));
      return uuidText(uuidV7(now));
    });
    expect(made.toSorted()).toEqual(made);
  });

  it('does not repeat', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => uuidText(uuidV7(1_700_000_000_000))));
    expect(ids.size).toBe(10_000);
  });
});
