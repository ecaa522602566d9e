import { describe, expect, it } from 'vitest';
import { type CachedToken, TokenCache } from './token-cache.ts';

const name = (identity: string, proof = 'p') => ({ identity, proof });
const value = (name: string, validUntilMs = 100): CachedToken & { name: string } => ({
  name,
  validUntilMs,
});

describe('TokenCache', () => {
  it('keeps a value until its end', async () => {
    const cache = new TokenCache();
    await cache.load(name('a'), async () => value('a', 100));
    expect(cache.get(name('a'), 99)).toMatchObject({ name: 'a' });
    expect(cache.get(name('a'), 100)).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('holds no more than it may, and lets the longest unused go', async () => {
    const cache = new TokenCache(2);
    await cache.load(name('a'), async () => value('a'));
    await cache.load(name('b'), async () => value('b'));
    cache.get(name('a'), 0);
    await cache.load(name('c'), async () => value('c'));
    expect(['a', 'b', 'c'].map((digest) => cache.get(name(digest), 0) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('works once on a token that many bring, and keeps no failure', async () => {
    const cache = new TokenCache();
    let made = 0;
    const fail = async () => {
      made += 1;
      throw new Error('refused');
    };
    const all = await Promise.allSettled([
      cache.load(name('a'), fail),
      cache.load(name('a'), fail),
    ]);
    expect([made, ...all.map(({ status }) => status)]).toEqual([1, 'rejected', 'rejected']);
    await expect(cache.load(name('a'), async () => value('a'))).resolves.toMatchObject({
      name: 'a',
    });
  });

  it('does not keep what was made on ground that changed meanwhile', async () => {
    const cache = new TokenCache<CachedToken & { name: string }>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = cache.load(name('a'), async () => {
      await promise;
      return value('old');
    });
    await cache.load(name('b'), async () => value('b'));
    await cache.load(name('c'), async () => value('c'));
    cache.dropWhere(({ name }) => name === 'b');
    resolve();
    await slow;
    expect(['a', 'b', 'c'].map((digest) => cache.get(name(digest), 0)?.name)).toEqual([
      undefined,
      undefined,
      'c',
    ]);
  });

  it('has one place for a token, whatever its signature, and takes no signature for another', async () => {
    const cache = new TokenCache();
    for (const proof of ['p', 'q', 'r'])
      await cache.load(name('a', proof), async () => value(proof));
    expect(cache.size).toBe(1);
    expect(cache.get(name('a', 'p'), 0)).toBeUndefined();
    expect(cache.get(name('a', 'r'), 0)).toMatchObject({ name: 'r' });
    await cache.load(name('a', 'forged'), () => Promise.reject(new Error())).catch(() => undefined);
    expect(cache.get(name('a', 'r'), 0)).toMatchObject({ name: 'r' });
  });
});
