import { describe, expect, it } from 'vitest';
import { exampleState } from '../../test/limits.ts';
import { dollars, limitError, limitHeaders } from './refusal.ts';

const state = exampleState;

describe('refusals', () => {
  it('of a rate name the entity, the policy and when to come back', () => {
    const error = limitError(state({ value: 5, unit: 'rpm', kind: 'policy', name: 'team' }), 1000);
    expect([error.status, error.code]).toEqual([429, 'limit.rate_exceeded']);
    expect(error.message).toBe(
      'Rate limit exceeded for API key "ci": 5 requests per minute allowed by policy "team".',
    );
    expect(error.headers).toEqual({
      'retry-after': '10',
      'x-service-ratelimit-limit-requests': '5',
      'x-service-ratelimit-remaining-requests': '0',
      'x-service-ratelimit-reset-requests': '10',
    });
  });

  it('of a budget tell money in dollars, and no time where there is no reset', () => {
    const budget = { type: 'cost', value: 1_500_000_000, period: {} } as const;
    const error = limitError(state(budget, { resetAtMs: 0 }), 1000);
    expect([error.status, error.code]).toEqual([412, 'limit.budget_exhausted']);
    expect(error.message).toBe('Budget exhausted for API key "ci": $1.50 allowed.');
    expect(error.headers).toEqual({
      'x-service-budget-limit-cost': '1.50',
      'x-service-budget-remaining-cost': '0.00',
    });
    expect(limitError(state(budget), 1000).headers).toMatchObject({
      'retry-after': '10',
      'x-service-budget-reset-cost': '10',
    });
  });

  it('tell what is only held from what is used up', () => {
    for (const limit of [
      { type: 'tokens', value: 10 },
      { type: 'cost', value: 10, period: {} },
    ] as const) {
      const error = limitError(state(limit, { posted: 4, pending: 6 }), 1000);
      expect([error.status, error.code]).toEqual([429, 'limit.reserved']);
      expect(error.headers?.['retry-after']).toBe('1');
    }
  });

  it('say where a limit could not be checked', () => {
    const error = limitError(state({}, { alone: 'refuse', posted: 0 }), 1000);
    expect([error.status, error.code]).toEqual([503, 'limit.unavailable']);
    expect(error.headers?.['x-service-limits-degraded']).toBe('refuse');
  });
});

describe('headers', () => {
  it('show the tightest counter of each kind and type, and no shadow', () => {
    const headers = limitHeaders(
      [
        state({ value: 100 }, { remaining: 90 }),
        state({ value: 10 }, { remaining: 1 }),
        state({ value: 5, rules: { isShadow: true } }),
        state({ type: 'tokens', value: 50, period: {} }, { remaining: 7, resetAtMs: 0 }),
      ],
      1000,
    );
    expect(headers).toEqual({
      'x-service-ratelimit-limit-requests': '10',
      'x-service-ratelimit-remaining-requests': '1',
      'x-service-ratelimit-reset-requests': '10',
      'x-service-budget-limit-tokens': '50',
      'x-service-budget-remaining-tokens': '7',
    });
  });

  it('tell what is left beside what the request itself may come to', () => {
    const tokens = state(
      { type: 'tokens', value: 100, period: {} },
      { remaining: 0, held: 84, resetAtMs: 0 },
    );
    const requests = state({ value: 10 }, { remaining: 9, held: 1 });
    expect(limitHeaders([tokens, requests], 1000)).toMatchObject({
      'x-service-budget-remaining-tokens': '84',
      'x-service-ratelimit-remaining-requests': '9',
    });
  });

  it('name the limits in shadow mode that would have refused', () => {
    const shadow = (name: string) =>
      state({ kind: 'policy', name, rules: { isShadow: true } }, { wouldRefuse: true });
    expect(limitHeaders([shadow('one'), shadow('two, ü')], 0)).toEqual({
      'x-service-limits-would-refuse': 'one,two? ?',
    });
  });
});

describe('dollars', () => {
  it.each([
    [0, '0.00'],
    [1, '0.000000001'],
    // Prices by the call may be parts of one.
    [0.5, '0.000000001'],
    [999_999_999.7, '1.00'],
    [1_000_000_000, '1.00'],
    [1_230_000_000, '1.23'],
    [1_234_567_891, '1.234567891'],
    [9_007_199_254_740_991, '9007199.254740991'],
  ])('%i nano-dollars are %s', (nano, text) => {
    expect(dollars(nano)).toBe(text);
  });
});
