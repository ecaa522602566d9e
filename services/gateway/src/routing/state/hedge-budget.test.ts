import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HedgeBudget } from './hedge-budget.ts';

function takenOf(budget: HedgeBudget, requests: number, percentage: number): number {
  let taken = 0;
  for (let request = 0; request < requests; request++) {
    budget.request('config');
    if (budget.take('config', percentage)) taken++;
  }
  return taken;
}

describe('HedgeBudget', () => {
  it('allows three second calls before the share counts', () => {
    expect(takenOf(new HedgeBudget(), 5, 10)).toBe(3);
  });

  it('allows exactly the percentage of the requests once these three are used up', () => {
    for (const [percentage, taken] of [
      [10, 100],
      [2.5, 25],
      [100, 1000],
    ] as const) {
      const budget = new HedgeBudget();
      for (let call = 0; call < 3; call++) expect(budget.take('config', percentage)).toBe(true);
      expect(takenOf(budget, 1000, percentage)).toBe(taken);
    }
  });

  it('saves no more than three calls through a time without hedging', () => {
    const budget = new HedgeBudget();
    for (let request = 0; request < 100_000; request++) budget.request('config');
    const taken = Array.from({ length: 10 }, () => budget.take('config', 10));
    expect(taken.filter(Boolean)).toHaveLength(3);
  });

  it('allows nothing at zero per cent', () => {
    expect(takenOf(new HedgeBudget(), 100, 0)).toBe(0);
  });

  it('counts each key by itself', () => {
    const budget = new HedgeBudget();
    takenOf(budget, 100, 1);
    expect(budget.take('config', 1)).toBe(false);
    expect(budget.take('other', 1)).toBe(true);
  });

  it('never exceeds the share by more than three, whatever the order of calls', () => {
    const percentages = fc.integer({ min: 1, max: 100 });
    const orders = fc.array(fc.boolean(), { maxLength: 400 });
    fc.assert(
      fc.property(percentages, orders, (percentage, order) => {
        const budget = new HedgeBudget();
        let requests = 0;
        let taken = 0;
        for (const isRequest of order) {
          if (isRequest) budget.request('config');
          if (isRequest) requests++;
          else if (budget.take('config', percentage)) taken++;
          expect(taken).toBeLessThanOrEqual((requests * percentage) / 100 + 3);
        }
      }),
    );
  });

  it('holds no more keys than the cap', () => {
    const budget = new HedgeBudget({ entriesMax: 50 });
    for (let key = 0; key < 1000; key++) budget.request(`k${key}`);
    expect(budget.size).toBe(50);
  });
});
