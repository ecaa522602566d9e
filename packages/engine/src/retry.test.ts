import { describe, expect, it } from 'vitest';
import {
  afterCall,
  type CallResult,
  type RetryProgress,
  type RetryRule,
  retriedByDefault,
  waitHintMs,
} from './retry.ts';

const answered: CallResult = {
  status: 500,
  isNetworkFailure: false,
  isFinal: false,
  waitHintMs: undefined,
};

function rule(attempts: number, settings: Partial<RetryRule> = {}): RetryRule {
  return { attempts, statusCodes: retriedByDefault, usesWaitHints: false, ...settings };
}

/** Plays a row of answers; the waits before each retry and the value of the header. */
function play(retryRule: RetryRule | undefined, ...results: Partial<CallResult>[]) {
  const progress: RetryProgress = { retries: 0, waitedMs: 0 };
  const waits: number[] = [];
  for (const [index, result] of results.entries()) {
    const decision = afterCall(retryRule, progress, { ...answered, ...result });
    if (decision.action === 'stop')
      return { calls: index + 1, waits, header: decision.attemptCount };
    waits.push(decision.waitMs);
    progress.retries++;
    if (result.waitHintMs !== undefined) progress.waitedMs += result.waitHintMs;
  }
  throw new Error('the answers ran out before the retries did');
}

describe('afterCall', () => {
  it.each([
    ['an answer on the second retry', 2, { calls: 3, waits: [1000, 2000], header: 2 }],
    ['one retry too few', 1, { calls: 2, waits: [1000], header: -1 }],
    ['no retries', 0, { calls: 1, waits: [], header: 0 }],
  ])('counts %s', (_name, attempts, expected) => {
    expect(play(rule(attempts), { status: 500 }, { status: 500 }, { status: 200 })).toEqual(
      expected,
    );
  });

  it('says 0 without a rule, never -1', () => {
    expect(play(undefined, { status: 429 })).toEqual({ calls: 1, waits: [], header: 0 });
  });

  it('says how often it was tried before what must not be made again', () => {
    const progress = { retries: 2, waitedMs: 0 };
    const decision = afterCall(undefined, progress, { ...answered, status: 500 });
    expect(decision).toEqual({ action: 'stop', attemptCount: 2 });
  });

  it.each([429, 500, 502, 503, 504, 529])('retries %i by default', (status) => {
    expect(play(rule(1), { status }, { status: 200 })).toMatchObject({ calls: 2, header: 1 });
  });

  it.each([200, 400, 401, 404, 408, 412, 446, 501])('does not retry %i by default', (status) => {
    expect(play(rule(3), { status })).toEqual({ calls: 1, waits: [], header: 0 });
  });

  it('takes listed codes instead of the defaults', () => {
    const listed = rule(2, { statusCodes: new Set([408, 246]) });
    expect(play(listed, { status: 500 })).toMatchObject({ calls: 1 });
    expect(play(listed, { status: 408 }, { status: 246 }, { status: 200 })).toMatchObject({
      calls: 3,
      header: 2,
    });
  });

  it('doubles the wait each time', () => {
    const always = { status: 503 };
    expect(play(rule(5), always, always, always, always, always, always)).toEqual({
      calls: 6,
      waits: [1000, 2000, 4000, 8000, 16_000],
      header: -1,
    });
  });

  it('retries a call without an answer whatever the codes say', () => {
    const none = rule(1, { statusCodes: new Set() });
    expect(play(none, { status: 503, isNetworkFailure: true }, { status: 200 })).toMatchObject({
      calls: 2,
    });
  });

  it('never asks the same model again for what it cannot answer', () => {
    expect(play(rule(3), { status: 429 }, { status: 500, isFinal: true })).toEqual({
      calls: 2,
      waits: [1000],
      header: 1,
    });
  });

  const hinted = rule(5, { usesWaitHints: true });

  it('stops at once at a hint beyond the cap', () => {
    expect(play(hinted, { status: 429, waitHintMs: 61_000 })).toEqual({
      calls: 1,
      waits: [],
      header: -1,
    });
  });

  it('stops at the hint that would exceed what is left', () => {
    expect(
      play(hinted, { status: 429, waitHintMs: 20_000 }, { status: 429, waitHintMs: 50_000 }),
    ).toEqual({ calls: 2, waits: [20_000], header: -1 });
  });

  it('waits exactly the cap', () => {
    expect(play(hinted, { status: 429, waitHintMs: 60_000 }, { status: 200 })).toEqual({
      calls: 2,
      waits: [60_000],
      header: 1,
    });
  });

  it('follows hints after a 429 only, and only when asked to', () => {
    expect(play(hinted, { status: 503, waitHintMs: 61_000 }, { status: 200 }).waits).toEqual([
      1000,
    ]);
    expect(play(rule(1), { status: 429, waitHintMs: 61_000 }, { status: 200 }).waits).toEqual([
      1000,
    ]);
  });
});

describe('waitHintMs', () => {
  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '150', 'retry-after': '9' }, 150],
    [{ 'x-ms-retry-after-ms': '70', 'retry-after': '9' }, 70],
    [{ 'retry-after-ms': 'soon', 'retry-after': '3' }, 3000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': ['1', '2'] }, undefined],
    [{}, undefined],
  ])('reads %j as %j', (headers, expected) => {
    expect(waitHintMs(headers)).toBe(expected);
  });
});
