import { describe, expect, it } from 'vitest';
import {
  createServiceKey,
  hashServiceKey,
  isWellFormedServiceKey,
  maskServiceKey,
} from './service-key.ts';

describe('service keys', () => {
  it('are well formed, with any prefix, and never twice the same', () => {
    const keys = Array.from({ length: 100 }, () => createServiceKey('sl_'));
    expect(keys.every(isWellFormedServiceKey)).toBe(true);
    expect(new Set(keys).size).toBe(100);
    expect(isWellFormedServiceKey(createServiceKey(''))).toBe(true);
  });

  it('show a typing error without a look-up', () => {
    const key = createServiceKey('sl_');
    const flipped = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);
    expect(isWellFormedServiceKey(flipped)).toBe(false);
    expect(isWellFormedServiceKey('sk-proj-abc')).toBe(false);
    expect(isWellFormedServiceKey('')).toBe(false);
  });

  it('hash differently under another pepper', () => {
    const key = createServiceKey('sl_');
    expect(hashServiceKey(key, Buffer.alloc(32, 1))).not.toEqual(
      hashServiceKey(key, Buffer.alloc(32, 2)),
    );
    expect(hashServiceKey(key, Buffer.alloc(32, 1))).toHaveLength(32);
  });

  it('are shown by four characters', () => {
    expect(maskServiceKey('sl_abcdefgh')).toBe('sl*******gh');
  });
});
