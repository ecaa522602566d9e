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
  it('are the whole together, whatever it is', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 50 }), (total, count) => {
        let sum = 0n;
        for (let index = 0; index < count; index++) sum += BigInt(shareOf(total, { index, count }));
        expect(sum).toBe(BigInt(total));
      }),
    );
  });
});
