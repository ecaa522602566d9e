import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openSegment, sealSegment } from './segments.ts';

describe('a sealed segment', () => {
  const key = randomBytes(32);
  const place = { of: 'file one', index: 3, isLast: false };
  const sealed = sealSegment(key, place, [Buffer.from('some '), Buffer.from('text')]);

  it('opens where it belongs, and holds nothing that can be read', () => {
    expect(openSegment(key, place, sealed).toString()).toBe('some text');
    expect(sealed.includes('text')).toBe(false);
    expect(openSegment(key, place, sealSegment(key, place, []))).toHaveLength(0);
  });

  it('opens nowhere else, and not when a bit of it changed', () => {
    for (const other of [
      { ...place, of: 'file two' },
      { ...place, index: 4 },
      { ...place, isLast: true },
    ])
      expect(() => openSegment(key, other, sealed)).toThrow();
    expect(() => openSegment(randomBytes(32), place, sealed)).toThrow();
    expect(() => openSegment(key, place, sealed.subarray(0, -1))).toThrow();
    expect(() => openSegment(key, place, Buffer.alloc(0))).toThrow();
    for (const at of [0, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => openSegment(key, place, changed)).toThrow();
    }
  });
});
