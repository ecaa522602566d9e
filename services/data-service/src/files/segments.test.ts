import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { headBytes, openSegment, type Place, sealInPlace, sealSegment } from './segments.ts';

/** What is opened is used up. */
const open = (key: Buffer, place: Place, sealed: Buffer) =>
  openSegment(key, place, Buffer.from(sealed));

describe('a sealed segment', () => {
  const key = randomBytes(32);
  const place = { of: 'file one', index: 3, isLast: false };
  const sealed = sealSegment(key, place, Buffer.from('some text'));

  it('opens where it belongs, and holds nothing that can be read', () => {
    expect(open(key, place, sealed).toString()).toBe('some text');
    expect(sealed.includes('text')).toBe(false);
    expect(open(key, place, sealSegment(key, place, Buffer.alloc(0)))).toHaveLength(0);
  });

  it('is sealed where it stands, and opened there, however many turns it takes', () => {
    const content = Buffer.from(Array.from({ length: 200_001 }, (_, at) => at % 251));
    const room = Buffer.concat([Buffer.alloc(headBytes), content]);
    const inPlace = sealInPlace(key, place, room);
    expect(inPlace).toBe(room);
    expect(inPlace.subarray(headBytes).equals(content)).toBe(false);
    const opened = openSegment(key, place, inPlace);
    expect(opened.buffer).toBe(room.buffer);
    expect(opened.equals(content)).toBe(true);
  });

  it('opens nowhere else, and not when a bit of it changed', () => {
    for (const other of [
      { ...place, of: 'file two' },
      { ...place, index: 4 },
      { ...place, isLast: true },
    ])
      expect(() => open(key, other, sealed)).toThrow();
    expect(() => open(randomBytes(32), place, sealed)).toThrow();
    expect(() => open(key, place, sealed.subarray(0, -1))).toThrow();
    expect(() => open(key, place, Buffer.alloc(0))).toThrow();
    for (const at of [0, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => open(key, place, changed)).toThrow();
    }
  });
});
