import { describe, expect, it } from 'vitest';
import {
  addCalls,
  type BreakerCounts,
  type BreakerRule,
  breakerPhase,
  countsAsFailure,
  shouldOpen,
} from './breaker.ts';

function rule(settings: Partial<BreakerRule>): BreakerRule {
  return {
    failureThreshold: undefined,
    failurePercentage: undefined,
    minimumRequests: 1,
    cooldownMs: 30_000,
    failureStatusCodes: undefined,
    ...settings,
  };
}

const nothing: BreakerCounts = { failures: 0, successes: 0, sinceMs: 0 };

describe('countsAsFailure', () => {
  it.each([
    [500, false],
    [501, true],
    [429, false],
    [529, true],
    [200, false],
  ])('takes %i for a failure: %s', (status, expected) => {
    expect(countsAsFailure(rule({}), status, false)).toBe(expected);
  });

  it('takes calls without an answer for failures, unless codes are listed', () => {
    expect(countsAsFailure(rule({}), 500, true)).toBe(true);
    const listed = rule({ failureStatusCodes: new Set([429]) });
    expect(countsAsFailure(listed, 429, false)).toBe(true);
    expect(countsAsFailure(listed, 503, false)).toBe(false);
  });
});

describe('shouldOpen', () => {
  it('opens above the threshold, not at it', () => {
    const threshold = rule({ failureThreshold: 2 });
    expect(shouldOpen(threshold, { failures: 2, successes: 0, sinceMs: 1 })).toBe(false);
    expect(shouldOpen(threshold, { failures: 3, successes: 9, sinceMs: 1 })).toBe(true);
  });

  it('looks at the rate once enough calls were made', () => {
    const rate = rule({ failurePercentage: 50, minimumRequests: 10 });
    expect(shouldOpen(rate, { failures: 9, successes: 0, sinceMs: 1 })).toBe(false);
    expect(shouldOpen(rate, { failures: 5, successes: 5, sinceMs: 1 })).toBe(false);
    expect(shouldOpen(rate, { failures: 6, successes: 4, sinceMs: 1 })).toBe(true);
  });

  it('opens when either of two thresholds says so', () => {
    const both = rule({ failureThreshold: 100, failurePercentage: 10 });
    expect(shouldOpen(both, { failures: 1, successes: 1, sinceMs: 1 })).toBe(true);
  });

  it('never opens without a failure', () => {
    expect(shouldOpen(rule({ failurePercentage: 0 }), { ...nothing, successes: 5 })).toBe(false);
  });
});

describe('addCalls', () => {
  it('adds up within a cooldown and starts again after it', () => {
    const threshold = rule({ failureThreshold: 3 });
    const first = addCalls(threshold, nothing, 1, 0, 1000);
    expect(first).toEqual({ failures: 1, successes: 0, sinceMs: 1000 });
    const second = addCalls(threshold, first, 1, 2, 30_999);
    expect(second).toEqual({ failures: 2, successes: 2, sinceMs: 1000 });
    expect(addCalls(threshold, second, 1, 0, 31_000)).toEqual({
      failures: 1,
      successes: 0,
      sinceMs: 31_000,
    });
    expect(first).toEqual({ failures: 1, successes: 0, sinceMs: 1000 });
  });
});

describe('breakerPhase', () => {
  it.each([
    [0, 50_000, 'closed'],
    [50_000, 79_999, 'open'],
    [50_000, 80_000, 'half-open'],
  ])('opened at %i is at %i %s', (openedAtMs, nowMs, phase) => {
    expect(breakerPhase(rule({}), openedAtMs, nowMs)).toBe(phase);
  });
});
