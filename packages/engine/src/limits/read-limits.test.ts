import { describe, expect, it } from 'vitest';
import { entityCounters, readLimits } from './read-limits.ts';

const holder = { kind: 'api_key', name: 'ci-key', workspaceId: 'ws' } as const;
const rate = (over: object) => ({ id: '', type: 'requests', unit: 'rpm', value: 5, ...over });
const budget = (over: object) => ({
  id: 'b1',
  type: 'cost',
  value: 1e9,
  period: undefined,
  ...over,
});

describe('limits of a holder', () => {
  it('are known by their id, and those of the release before by what they were called', () => {
    const limits = readLimits(holder, 'api_key:id-1', {
      rates: [rate({ id: 'r1' }), rate({}), rate({ value: 2 }), rate({ type: 'tokens' })],
      budgets: [budget({})],
    });
    expect(limits.map(({ id }) => id)).toEqual([
      'r1',
      'api_key:id-1:requests:rpm',
      // Two of one type and unit do not share a counter.
      'api_key:id-1:requests:rpm:1',
      'api_key:id-1:tokens:rpm',
      'b1',
    ]);
  });

  it('that cannot be counted are left out', () => {
    const limits = readLimits(holder, 'k', {
      rates: [rate({ unit: 'fortnight' }), rate({ type: 'cost' }), rate({ type: 'minutes' })],
      budgets: [budget({ type: 'minutes' })],
    });
    expect(limits).toEqual([]);
  });

  it('share without shared counters where they are rates, and lease where they are budgets', () => {
    const rules = {
      shadow: true,
      admission: 'strict',
      estimate: 'observed',
      withoutShared: 'refuse',
      unpriced: 'refuse',
    };
    const [first, second, third] = readLimits(holder, 'k', {
      rates: [rate({})],
      budgets: [budget({}), budget({ id: 'b2', rules })],
    });
    expect(first?.rules).toMatchObject({
      isShadow: false,
      isStrict: false,
      withoutShared: 'share',
    });
    expect(second?.rules.withoutShared).toBe('lease');
    expect(third?.rules).toEqual({
      isShadow: true,
      isStrict: true,
      estimatesByObserved: true,
      withoutShared: 'refuse',
      refusesUnpriced: true,
    });
  });

  it('name who is limited by slug', () => {
    const counters = entityCounters(
      readLimits({ ...holder, kind: 'integration', name: 'main' }, 'k', {
        rates: [rate({})],
        budgets: [],
      }),
    );
    expect(counters).toMatchObject([{ group: '', entity: 'integration "main"' }]);
  });
});
