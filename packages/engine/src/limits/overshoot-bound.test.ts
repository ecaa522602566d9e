import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overshootBound } from './overshoot-bound.ts';

const amount = fc.bigInt({ min: 0n, max: 1_000n });
/** What is held, by how much that is less than was estimated, and how much of the estimate is used, in percent. */
const request = fc.record({ held: amount, short: amount, percent: fc.bigInt(0n, 100n) });

interface Request {
  readonly held: bigint;
  readonly short: bigint;
  readonly percent: bigint;
}

const sum = (all: readonly Request[], each: (request: Request) => bigint): bigint =>
  all.reduce((total, one) => total + each(one), 0n);

function stateOf(posted: bigint, underWay: readonly Request[]) {
  return {
    posted,
    reserved: sum(underWay, ({ held }) => held),
    beyond: sum(underWay, ({ short }) => short),
  };
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other);

describe('the bound of overshooting', () => {
  it('is what is missing when a request was let in with less than it needs', () => {
    expect(overshootBound(100n, { posted: 90n, reserved: 10n, beyond: 40n })).toBe(40n);
  });

  it('shrinks by what others gave back', () => {
    expect(overshootBound(100n, { posted: 60n, reserved: 10n, beyond: 40n })).toBe(10n);
    expect(overshootBound(100n, { posted: 50n, reserved: 10n, beyond: 40n })).toBe(0n);
  });

  it('is nothing when nobody may use more than is held, however far the counter is', () => {
    expect(overshootBound(100n, { posted: 170n, reserved: 0n, beyond: 0n })).toBe(0n);
    expect(overshootBound(100n, { posted: 90n, reserved: 30n, beyond: 0n })).toBe(0n);
  });

  it('is of what is to come, where the limit was lowered below what is used', () => {
    expect(overshootBound(50n, { posted: 90n, reserved: 10n, beyond: 5n })).toBe(5n);
  });

  it('is never exceeded, whatever requests use of their estimates, and reached by what uses all', () => {
    fc.assert(
      fc.property(amount, amount, fc.array(request), (limit, posted, underWay) => {
        const state = stateOf(posted, underWay);
        const bound = overshootBound(limit, state);
        const from = larger(limit, state.posted + state.reserved);
        const used = sum(underWay, ({ held, short, percent }) => ((held + short) * percent) / 100n);
        expect(larger(0n, posted + used - from)).toBeLessThanOrEqual(bound);
        const all = sum(underWay, ({ held, short }) => held + short);
        expect(larger(0n, posted + all - from)).toBe(bound);
      }),
    );
  });

  it('never grows while requests end within their estimates and none is let in', () => {
    fc.assert(
      fc.property(amount, amount, fc.array(request), (limit, first, all) => {
        let posted = first;
        let before: bigint | undefined;
        for (let ended = 0; ended <= all.length; ended += 1) {
          const state = stateOf(posted, all.slice(ended));
          const after = larger(limit, state.posted + state.reserved) + overshootBound(limit, state);
          if (before !== undefined) expect(after).toBeLessThanOrEqual(before);
          before = after;
          const { held, short, percent } = all[ended] ?? { held: 0n, short: 0n, percent: 0n };
          posted += ((held + short) * percent) / 100n;
        }
      }),
    );
  });
});
