import type { SentRotationPolicy } from '@sluice/contracts/admin';
import type { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { nextAfterRotation, planRotation, type RotationPlan } from './rotation.ts';

const now = new Date('2024-02-28T15:00:00Z'); // A Wednesday before a leap day.
const at = (text: string) => new Date(`${text}T00:00:00.000Z`);
const free = { enforcedDays: null, now };
const thirty = { enforcedDays: 30, now };
const weekly: RotationPlan = {
  policy: { rotation_period: 'weekly' },
  nextAt: at('2024-03-18'),
};

const faultOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as GatewayError).field ?? String(error);
  }
  return 'no fault';
};

describe('planRotation', () => {
  it.each([
    [{ rotation_period: 'weekly' }, '2024-03-04'],
    [{ rotation_period: 'monthly' }, '2024-03-01'],
    [{ rotation_period_days: 1 }, '2024-02-29'],
    [{ rotation_period_days: 2 }, '2024-03-01'],
    [{ next_rotation_at: new Date('2024-05-05T23:59:59Z') }, '2024-05-05'],
    [
      { rotation_period: 'monthly', next_rotation_at: new Date('2024-05-05T01:00:00Z') },
      '2024-05-05',
    ],
  ] as const)('of %j is next due at %s', (sent, expected) => {
    const { next_rotation_at: _date, ...policy } = sent as { next_rotation_at?: Date };
    expect(planRotation(sent, undefined, free)).toEqual({ policy, nextAt: at(expected) });
  });

  it('keeps what is not sent, ends with null, and keeps the date while the period stays', () => {
    expect(planRotation(undefined, weekly, free)).toBe(weekly);
    expect(planRotation(null, weekly, free)).toEqual({ policy: null, nextAt: null });
    const again = { rotation_period: 'weekly', key_transition_period_ms: 3_600_000 } as const;
    expect(planRotation(again, weekly, free)).toEqual({ policy: again, nextAt: weekly.nextAt });
    expect(planRotation({ rotation_period: 'monthly' }, weekly, free).nextAt).toEqual(
      at('2024-03-01'),
    );
  });

  it('keeps what a change of one member leaves out; one cadence takes the place of the other', () => {
    const overlap = 3_600_000;
    const stored = {
      policy: { rotation_period: 'weekly', key_transition_period_ms: overlap },
      nextAt: weekly.nextAt,
    } as const;
    const change = (sent: SentRotationPolicy) => planRotation(sent, stored, free);
    expect(change({ rotation_period: 'monthly' })).toEqual({
      policy: { rotation_period: 'monthly', key_transition_period_ms: overlap },
      nextAt: at('2024-03-01'),
    });
    expect(change({ rotation_period_days: 3 }).policy).toEqual({
      rotation_period_days: 3,
      key_transition_period_ms: overlap,
    });
    expect(change({ key_transition_period_ms: 2_000_000 })).toEqual({
      policy: { rotation_period: 'weekly', key_transition_period_ms: 2_000_000 },
      nextAt: weekly.nextAt,
    });
    const moved = change({ next_rotation_at: new Date('2024-05-05T01:00:00Z') });
    expect(moved).toEqual({ policy: stored.policy, nextAt: at('2024-05-05') });
    expect(planRotation({ next_rotation_at: null }, moved, free)).toEqual({
      policy: stored.policy,
      nextAt: at('2024-03-04'),
    });
    const once = { policy: {}, nextAt: at('2024-05-05') };
    expect(planRotation({ key_transition_period_ms: overlap }, once, free)).toEqual({
      policy: { key_transition_period_ms: overlap },
      nextAt: once.nextAt,
    });
    const enforced = {
      policy: { rotation_period_days: 30, key_transition_period_ms: overlap },
      nextAt: at('2024-03-29'),
    };
    expect(planRotation({ rotation_period_days: 30 }, enforced, thirty)).toEqual(enforced);
    // What it comes to is judged as a whole.
    const faults = [
      faultOf(() => change({ rotation_period: null })),
      faultOf(() => change({ key_transition_period_ms: 8 * 86_400_000 })),
      faultOf(() => change({ rotation_period: 'weekly', rotation_period_days: 3 })),
      faultOf(() => planRotation({ key_transition_period_ms: overlap }, undefined, free)),
    ];
    expect(faults).toEqual([
      'body.rotation_policy',
      'body.rotation_policy.key_transition_period_ms',
      'body.rotation_policy.rotation_period_days',
      'body.rotation_policy',
    ]);
  });

  it('takes no date that is over, except the one it has', () => {
    const today = { next_rotation_at: new Date('2024-02-28T18:00:00Z') };
    const field = 'body.rotation_policy.next_rotation_at';
    expect(faultOf(() => planRotation(today, undefined, free))).toBe(field);
    const due = { policy: {}, nextAt: at('2024-02-28') };
    expect(planRotation(today, due, free)).toEqual(due);
  });

  describe('under a period that the organisation sets', () => {
    const enforced: RotationPlan = {
      policy: { rotation_period_days: 30 },
      nextAt: at('2024-03-29'),
    };

    it('is that one, for keys that say nothing, the same, or the name for it', () => {
      for (const sent of [
        undefined,
        null,
        { rotation_period_days: 30 },
        { rotation_period: 'monthly' } as const,
      ])
        expect(planRotation(sent, undefined, thirty)).toEqual(enforced);
      expect(planRotation(undefined, enforced, thirty)).toBe(enforced);
      expect(planRotation(undefined, weekly, thirty)).toEqual(enforced);
    });

    it('is not another one, does not end, and its date does not move', () => {
      const faults = [
        faultOf(() => planRotation({ rotation_period: 'weekly' }, undefined, thirty)),
        faultOf(() => planRotation({ rotation_period_days: 31 }, enforced, thirty)),
        faultOf(() => planRotation(null, enforced, thirty)),
        faultOf(() => planRotation({ next_rotation_at: at('2024-03-20') }, enforced, thirty)),
        faultOf(() => planRotation({ next_rotation_at: at('2024-04-20') }, undefined, thirty)),
        faultOf(() =>
          planRotation(
            { next_rotation_at: at('2024-03-01'), key_transition_period_ms: 30 * 86_400_000 },
            undefined,
            thirty,
          ),
        ),
      ];
      expect(faults).toEqual([
        'body.rotation_policy.rotation_period',
        'body.rotation_policy.rotation_period_days',
        'body.rotation_policy',
        'body.rotation_policy.next_rotation_at',
        'body.rotation_policy.next_rotation_at',
        'body.rotation_policy.key_transition_period_ms',
      ]);
      const sooner = { next_rotation_at: at('2024-03-20') };
      expect(planRotation(sooner, undefined, thirty).nextAt).toEqual(at('2024-03-20'));
    });
  });
});

describe('nextAfterRotation', () => {
  const rotation = { now, overlapEndsAt: new Date(now.getTime() + 1_800_000) };

  it('counts from the rotation; a single date stays until it is over', () => {
    expect(nextAfterRotation(weekly, rotation)).toEqual(at('2024-03-04'));
    const days = { policy: { rotation_period_days: 10 }, nextAt: at('2024-02-29') };
    expect(nextAfterRotation(days, rotation)).toEqual(at('2024-03-09'));
    expect(nextAfterRotation({ policy: {}, nextAt: at('2024-03-20') }, rotation)).toEqual(
      at('2024-03-20'),
    );
    expect(nextAfterRotation({ policy: {}, nextAt: at('2024-02-28') }, rotation)).toBeNull();
    expect(nextAfterRotation({ policy: null, nextAt: null }, rotation)).toBeNull();
  });

  it.each([
    [{ rotation_period: 'monthly' }, '2024-12-31T23:48Z', '2025-01-01T00:18Z', '2025-02-01'],
    [{ rotation_period: 'weekly' }, '2024-03-03T23:40Z', '2024-03-04T00:10Z', '2024-03-11'],
    [{ rotation_period_days: 1 }, '2024-02-28T23:59Z', '2024-02-29T00:29Z', '2024-03-01'],
    [{ rotation_period_days: 10 }, '2024-02-28T15:00Z', '2024-03-09T14:00Z', '2024-03-10'],
    [{ rotation_period_days: 10 }, '2024-02-28T15:00Z', '2024-03-09T00:00Z', '2024-03-10'],
  ] as const)('of %j at %s is after the overlap that ends at %s', (policy, from, to, expected) => {
    // Until then the key has two secrets, and a third is refused.
    const during = { now: new Date(from), overlapEndsAt: new Date(to) };
    expect(nextAfterRotation({ policy, nextAt: null }, during)).toEqual(at(expected));
  });

  it('is none where a single date falls into the overlap', () => {
    const plan = { policy: {}, nextAt: at('2024-02-29') };
    const late = { now, overlapEndsAt: new Date('2024-02-29T00:00:01Z') };
    expect(nextAfterRotation(plan, late)).toBeNull();
  });
});
