import { describe, expect, it } from 'vitest';
import { isUuid, uuidText } from './uuid-text.ts';

describe('the text of an id', () => {
  it('is of its own bytes, wherever they stand', () => {
    const message = Uint8Array.from({ length: 40 }, (_, index) => index);
    expect(uuidText(message.subarray(16, 32))).toBe('10111213-1415-1617-1819-1a1b1c1d1e1f');
  });

  it('is empty for a field that was not set', () => {
    expect(uuidText(new Uint8Array())).toBe('');
  });
});

describe('a text', () => {
  it('is an id as a whole only', () => {
    const id = '01a20447-776d-76a2-82b2-a3f8aa7332b1';
    expect([id, id.toUpperCase()].map(isUuid)).toEqual([true, true]);
    expect(['', `${id}x`, ` ${id}`, id.replaceAll('-', ''), `${id}\n`].some(isUuid)).toBe(false);
  });
});
