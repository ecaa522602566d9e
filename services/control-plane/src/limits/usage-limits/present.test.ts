import { describe, expect, it } from 'vitest';
import { presentUsageLimits } from './present.ts';
import type { StoredUsageLimits } from './stored-limits.ts';

const id = '01f1c2d3-0000-7000-8000-000000000001';
const now = new Date('2026-03-04T10:00:00Z');
const stored: StoredUsageLimits = { id, credit_limit: 10, type: 'cost' };
const shown = (limits: StoredUsageLimits, ...usages: Parameters<typeof presentUsageLimits>[2][]) =>
  JSON.parse(JSON.stringify(presentUsageLimits(limits, now, usages[0])));
const row = (posted: bigint, epoch: { generation?: bigint; periodStartMs?: bigint } = {}) =>
  new Map([
    [id, { generation: 0n, periodStartMs: 0n, posted, reserved: 5n, overshootBound: 7n, ...epoch }],
  ]);

describe('usage limits as they are shown', () => {
  it('leave out a threshold that is not set, and show no reset as null', () => {
    expect(shown(stored)).toStrictEqual({
      id,
      credit_limit: 10,
      type: 'cost',
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
      last_reset_at: null,
    });
  });

  it('tell dollars to the nano-dollar, and are exhausted at the limit', () => {
    expect(shown(stored, row(9_999_999_999n))).toMatchObject({
      current_usage: 9.999999999,
      reserved: 5e-9,
      overshoot_bound: 7e-9,
      status: 'active',
    });
    expect(shown(stored, row(10_000_000_000n)).status).toBe('exhausted');
    expect(shown(stored, new Map())).toMatchObject({ current_usage: 0, status: 'active' });
  });

  it('tell how far requests in flight may go beyond the limit, and nothing where there is room for them', () => {
    const boundAt = (posted: bigint) => shown(stored, row(posted)).overshoot_bound;
    expect(boundAt(0n)).toBe(0);
    expect(boundAt(10_000_000_000n - 12n)).toBe(0);
    expect(boundAt(10_000_000_000n - 9n)).toBe(3e-9);
    expect(boundAt(10_000_000_000n)).toBe(7e-9);
    expect(boundAt(20_000_000_000n)).toBe(7e-9);
  });

  it('move on by themselves, and know nothing of what an epoch counted that is over', () => {
    const monthly = {
      ...stored,
      periodic_reset: 'monthly' as const,
      next_usage_reset_at: '2025-12-01T00:00:00.000Z',
    };
    const march = BigInt(Date.parse('2026-03-01T00:00Z'));
    expect(shown(monthly, row(20_000_000_000n))).toMatchObject({
      next_usage_reset_at: '2026-04-01T00:00:00.000Z',
      last_reset_at: '2026-03-01T00:00:00.000Z',
      current_usage: 0,
      status: 'active',
    });
    expect(shown(monthly, row(20_000_000_000n, { periodStartMs: march })).current_usage).toBe(20);
    expect(
      shown({ ...monthly, generation: 1 }, row(20_000_000_000n, { periodStartMs: march }))
        .current_usage,
    ).toBe(0);
  });
});
