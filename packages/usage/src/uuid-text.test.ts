import { describe, expect, it } from 'vitest';
import { uuidText } from './uuid-text.ts';

describe('the text of an id', () => {
  it('is of its own bytes, wherever they stand', () => {
    const message = Uint8Array.from({ length: 40 }, (_, index) => index);
    expect(uuidText(message.subarray(16, 32))).toBe('10111213-1415-1617-1819-1a1b1c1d1e1f');
  });

  it('is empty for a field that was not set', () => {
    expect(uuidText(new Uint8Array())).toBe('');
  });
});
