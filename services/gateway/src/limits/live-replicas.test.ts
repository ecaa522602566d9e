import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveReplicas, shareOf } from './live-replicas.ts';

describe('live replicas', () => {
  it('are one until more are told, and more at once', () => {
    const replicas = new LiveReplicas(() => 0);
    expect(replicas.now).toEqual({ index: 0, count: 1 });
    replicas.note(1, 3);
    expect(replicas.now).toEqual({ index: 1, count: 3 });
    // A control plane of the release before does not know.
    replicas.note(0, 0);
    expect(replicas.now.count).toBe(3);
  });

  it('are fewer only when there have been no more for a while', () => {
    let nowMs = 0;
    const replicas = new LiveReplicas(() => nowMs);
    replicas.note(2, 3);
    replicas.note(0, 1);
    nowMs = 10_000;
    replicas.note(2, 3);
    nowMs = 12_000;
    replicas.note(0, 2);
    nowMs = 26_000;
    replicas.note(0, 2);
    expect(replicas.now.count).toBe(3);
    nowMs = 27_000;
    replicas.note(0, 2);
    expect(replicas.now).toEqual({ index: 0, count: 2 });
  });
});

describe('shares', () => {
  const sharesOf = (total: number, count: number, counter: string) =>
    Array.from({ length: count }, (_, index) => shareOf(total, { index, count }, counter));

  it('are the whole together, whatever it is, and no two are more than one apart', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.integer({ min: 1, max: 50 }),
        fc.string(),
        (total, count, counter) => {
          const shares = sharesOf(total, count, counter);
          const sum = shares.reduce((all, share) => all + BigInt(share), 0n);
          expect(sum).toBe(BigInt(total));
          expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it.each([
    [1, 2],
    [1, 3],
    [5, 4],
    [2, 7],
  ])('of %i over %i gateways leave no gateway behind for good', (total, count) => {
    const limit = '01f1c2d3-0000-7000-8000-000000000001';
    const epochs = 3_000;
    const sums = Array.from({ length: count }, () => 0);
    for (let epoch = 0; epoch < epochs; epoch += 1)
      for (const [index, share] of sharesOf(
        total,
        count,
        `${limit}@${1_767_225_600 + 60 * epoch}`,
      ).entries())
        sums[index] = (sums[index] ?? 0) + share;
    for (const sum of sums) expect(sum / epochs / (total / count)).toBeCloseTo(1, 0.5);
  });
});
