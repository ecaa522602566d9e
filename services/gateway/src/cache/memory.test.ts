import { describe, expect, it } from 'vitest';
import { MemoryCache } from './memory.ts';
import type { CachedReply } from './store.ts';

function reply(bytes: number): CachedReply {
  return {
    form: 'json',
    contentType: 'application/json',
    storedAtMs: 0,
    body: Buffer.alloc(bytes, 'x'),
  };
}

function cache(over: Partial<ConstructorParameters<typeof MemoryCache>[0]> = {}): MemoryCache {
  return new MemoryCache({ bytesMax: 10_000, entriesMax: 100, now: () => 0, ...over });
}

describe('MemoryCache', () => {
  it('forgets what was used least recently once the bytes are used up', () => {
    const store = cache();
    for (const key of ['a', 'b', 'c']) store.set('org', key, reply(2500), 1000);
    store.get('org', 'a');
    store.set('org', 'd', reply(2500), 1000);
    expect(['a', 'b', 'c', 'd'].map((key) => store.get('org', key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('never holds more than its bytes and entries, whatever is stored', () => {
    const store = cache({ entriesMax: 7 });
    for (let index = 0; index < 500; index++) {
      store.set('org', `k${index % 40}`, reply((index * 37) % 6000), 1000);
      expect(store.bytes).toBeLessThanOrEqual(10_000);
      expect(store.size).toBeLessThanOrEqual(7);
    }
    expect(store.size).toBeGreaterThan(0);
  });

  it('stores nothing larger than itself, and pushes nothing out for it', () => {
    const store = cache();
    store.set('org', 'small', reply(10), 1000);
    store.set('org', 'large', reply(10_000), 1000);
    expect(store.get('org', 'small')).toBeDefined();
    expect(store.get('org', 'large')).toBeUndefined();
  });

  it('forgets an answer when its time is over', () => {
    let nowMs = 0;
    const store = cache({ now: () => nowMs });
    store.set('org', 'a', reply(10), 1000);
    nowMs = 999;
    expect(store.get('org', 'a')).toBeDefined();
    nowMs = 1000;
    expect(store.get('org', 'a')).toBeUndefined();
    expect(store.bytes).toBe(0);
  });

  it('replaces an answer, and counts it once', () => {
    const store = cache();
    store.set('org', 'a', reply(10), 1000);
    const { bytes } = store;
    store.set('org', 'a', reply(11), 1000);
    expect(store.bytes).toBe(bytes + 1);
    expect(store.get('org', 'a')?.body.length).toBe(11);
  });

  it('keeps organisations apart', () => {
    const store = cache();
    store.set('org', 'a', reply(10), 1000);
    expect(store.get('org-2', 'a')).toBeUndefined();
  });

  it('does not hold on to the block that a small answer was cut from', () => {
    const store = cache();
    const block = Buffer.alloc(1_000_000, 'y');
    store.set('org', 'a', { ...reply(0), body: block.subarray(5, 25) }, 1000);
    const body = store.get('org', 'a')?.body;
    expect(body?.toString()).toBe('y'.repeat(20));
    expect(body?.buffer.byteLength).toBe(20);
  });
});
