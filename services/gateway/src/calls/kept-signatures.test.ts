import { describe, expect, it } from 'vitest';
import { KeptSignatures } from './kept-signatures.ts';

describe('KeptSignatures', () => {
  it('gives each owner its own', () => {
    const kept = new KeptSignatures();
    kept.keep('a', 'call', 'one');
    kept.keep('', 'call', 'nobody');
    expect([kept.find('a', 'call'), kept.find('b', 'call'), kept.find('', 'call')]).toEqual([
      'one',
      undefined,
      undefined,
    ]);
  });

  it('forgets what was not used for the longest time, by entries', () => {
    const kept = new KeptSignatures({ entriesMax: 2 });
    for (const call of ['a', 'b']) kept.keep('o', call, call);
    kept.find('o', 'a');
    kept.keep('o', 'c', 'c');
    expect(['a', 'b', 'c'].map((call) => kept.find('o', call))).toEqual(['a', undefined, 'c']);
  });

  it('holds no more bytes than it may, and nothing that would take them all', () => {
    const kept = new KeptSignatures({ bytesMax: 64 * 1000 });
    const large = 'x'.repeat(700);
    for (let call = 0; call < 100; call++) kept.keep('o', `${call}`, large);
    const held = Array.from({ length: 100 }, (_, call) => kept.find('o', `${call}`));
    expect(held.filter((signature) => signature === large)).toHaveLength(66);
    kept.keep('o', 'huge', 'x'.repeat(1000));
    expect(kept.find('o', 'huge')).toBeUndefined();
  });

  it('forgets with time, counted from the last use', () => {
    let now = 0;
    const kept = new KeptSignatures({ ttlMs: 10, now: () => now });
    kept.keep('o', 'call', 's');
    now = 9;
    expect(kept.find('o', 'call')).toBe('s');
    now = 18;
    expect(kept.find('o', 'call')).toBe('s');
    now = 28;
    expect(kept.find('o', 'call')).toBeUndefined();
  });
});
