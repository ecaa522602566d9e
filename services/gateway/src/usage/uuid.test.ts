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

  it('does not repeat', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => uuidText(uuidV7(1_700_000_000_000))));
    expect(ids.size).toBe(10_000);
  });
});
