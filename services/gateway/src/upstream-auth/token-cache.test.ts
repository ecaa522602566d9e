import { describe, expect, it } from 'vitest';
import { type Issued, TokenCache, tokenKey } from './token-cache.ts';

const minute = 60_000;
const forever = new AbortController().signal;

/** A cache on a clock of the test's, and an issuer that counts. */
function example(options: { entriesMax?: number; lifetimeMs?: number } = {}) {
  const state = { nowMs: 1_000_000, issued: 0, failing: false };
  const cache = new TokenCache({ nowMs: () => state.nowMs, ...options });
  const issue = async (): Promise<Issued<string>> => {
    state.issued += 1;
    const number = state.issued;
    await Promise.resolve();
    if (state.failing) throw new Error(`failure ${number}`);
    return {
      value: `token ${number}`,
      expiresAtMs: state.nowMs + (options.lifetimeMs ?? 60 * minute),
    };
  };
  const get = (key = 'a', signal = forever) => cache.get(key, signal, issue);
  return { state, cache, get };
}

describe('TokenCache', () => {
  it('issues one token for a hundred who ask at the same time', async () => {
    const { state, get } = example();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => get()));
    expect(new Set(tokens)).toEqual(new Set(['token 1']));
    expect(state.issued).toBe(1);
  });

  it('keeps credentials apart', async () => {
    const { get } = example();
    expect([await get('a'), await get('b'), await get('a')]).toEqual([
      'token 1',
      'token 2',
      'token 1',
    ]);
  });

  it('fetches the next token five minutes before the end, and hands out the old one meanwhile', async () => {
    const { state, get } = example();
    await get();
    state.nowMs += 55 * minute - 1;
    await get();
    expect(state.issued).toBe(1);
    state.nowMs += 1;
    expect(await get()).toBe('token 1');
    await Promise.resolve();
    expect(await get()).toBe('token 2');
    expect(state.issued).toBe(2);
  });

  it('hands out nothing that is about to end', async () => {
    const { state, get } = example();
    await get();
    state.nowMs += 60 * minute - 29_000;
    expect(await get()).toBe('token 2');
  });

  it('does not fetch short-lived tokens all the time', async () => {
    const { state, get } = example({ lifetimeMs: 4 * minute });
    await get();
    state.nowMs += 3 * minute - 1;
    await get();
    await get();
    expect(state.issued).toBe(1);
  });

  it('lives on the old token while the next cannot be had, and asks once a second', async () => {
    const { state, get } = example();
    await get();
    state.nowMs += 56 * minute;
    state.failing = true;
    for (let i = 0; i < 5; i += 1) {
      expect(await get()).toBe('token 1');
      await new Promise(setImmediate);
    }
    expect(state.issued).toBe(2);
    state.nowMs += 1_000;
    await get();
    expect(state.issued).toBe(3);
    state.nowMs += 4 * minute;
    await expect(get()).rejects.toThrow('failure');
  });

  it('keeps a failure for a second', async () => {
    const { state, get } = example();
    state.failing = true;
    await expect(get()).rejects.toThrow('failure 1');
    await expect(get()).rejects.toThrow('failure 1');
    state.failing = false;
    state.nowMs += 1_000;
    expect(await get()).toBe('token 2');
  });

  it('holds so many and no more, and forgets who was not asked for the longest', async () => {
    const { state, cache, get } = example({ entriesMax: 2 });
    await get('a');
    await get('b');
    await get('a');
    await get('c');
    expect(cache.size).toBe(2);
    await get('a');
    expect(state.issued).toBe(3);
    await get('b');
    expect(state.issued).toBe(4);
  });
});

describe('who waits for a token', () => {
  /** Answers when told to, and says when it was given up. */
  function held(deadlineMs?: number) {
    const cache = new TokenCache(deadlineMs === undefined ? {} : { deadlineMs });
    const flights: { answer(token: string): void; signal: AbortSignal }[] = [];
    const get = (signal: AbortSignal) =>
      cache.get(
        'a',
        signal,
        (issueSignal) =>
          new Promise<Issued<string>>((resolve, reject) => {
            issueSignal.addEventListener('abort', () => reject(issueSignal.reason));
            flights.push({
              signal: issueSignal,
              answer: (value) => resolve({ value, expiresAtMs: Number.POSITIVE_INFINITY }),
            });
          }),
      );
    return { flights, get };
  }

  it('may leave, and the others get it', async () => {
    const { flights, get } = held();
    const leaver = new AbortController();
    const left = get(leaver.signal);
    const stays = get(forever);
    leaver.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    flights[0]?.answer('token');
    expect(await stays).toBe('token');
    expect(flights[0]?.signal.aborted).toBe(false);
  });

  it('ends the issue when all have left, and who comes next starts anew', async () => {
    const { flights, get } = held();
    const leaver = new AbortController();
    const both = [get(leaver.signal), get(leaver.signal)];
    leaver.abort(new Error('gone'));
    for (const left of both) await expect(left).rejects.toThrow('gone');
    expect(flights[0]?.signal.aborted).toBe(true);
    const next = get(forever);
    flights[1]?.answer('token');
    expect(await next).toBe('token');
  });

  it('is not kept longer than the deadline', async () => {
    const { get } = held(30);
    await expect(get(forever)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('gets nothing when it has left before', async () => {
    const { flights, get } = held();
    await expect(get(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(flights).toEqual([]);
  });
});

describe('tokenKey', () => {
  it('tells apart all lists of parts, and shows none of them', () => {
    const keys = [
      tokenKey('a', 'b', undefined),
      tokenKey('a', 'b', ''),
      tokenKey('a', undefined, 'b'),
      tokenKey('ab', ''),
      tokenKey('a', 'b'),
      tokenKey('a","b'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(tokenKey('secret')).not.toContain('secret');
  });
});
