import {
  changedRotationPolicy,
  type RotationPolicy,
  rotationPeriodMs,
  type SentRotationPolicy,
} from '@sluice/contracts/admin';
import { type Cadence, midnightOf, nextOccurrence } from '@sluice/engine';
import { invalidField } from '@sluice/errors';
import { z } from 'zod';
import { parseInput } from '../../kernel/http/parse-input.ts';

/** How a key is to be rotated, and when next. */
export interface RotationPlan {
  policy: RotationPolicy | null;
  nextAt: Date | null;
}

/** The plan of a key that exists. */
export function rotationOf(key: {
  rotationPolicy: unknown;
  nextRotationAt: Date | null;
}): RotationPlan {
  return { policy: key.rotationPolicy as RotationPolicy | null, nextAt: key.nextRotationAt };
}

const none: RotationPlan = { policy: null, nextAt: null };
const dayMs = 86_400_000;
const field = 'body.rotation_policy';

/**
 * What becomes of a key's rotation. Nothing sent leaves it, as does of a policy
 * what is left out of it; null ends it. A date that was sent is the next one,
 * whatever the period; else the next one follows from the period, and stays
 * while the period does.
 * @param stored  the plan of a key that exists
 * @param enforcedDays  the period that the organisation wants of user keys
 * @throws 400 where the organisation's period is not kept, the date is over, or what comes of a change is no policy
 */
export function planRotation(
  sent: SentRotationPolicy | null | undefined,
  stored: RotationPlan | undefined,
  { enforcedDays, now }: { enforcedDays: number | null; now: Date },
): RotationPlan {
  if (enforcedDays !== null) return planEnforced(sent, stored, enforcedDays, now);
  if (sent === undefined) return stored ?? none;
  if (sent === null) return none;
  const { next_rotation_at: date, ...policy } = changedPolicy(sent, stored);
  if (date != null) return { policy, nextAt: futureMidnight(date, stored, now) };
  const kept = date === undefined && stored?.policy != null && sameCadence(stored.policy, policy);
  return { policy, nextAt: (kept ? stored.nextAt : null) ?? nextOf(policy, now) };
}

const holder = z.object({ rotation_policy: changedRotationPolicy });

/** A policy with what was sent of it; one cadence takes the place of the other, or of a single date. */
function changedPolicy(
  sent: SentRotationPolicy,
  stored: RotationPlan | undefined,
): SentRotationPolicy {
  const { key_transition_period_ms, ...cadence } = stored?.policy ?? {};
  const isOther = sent.rotation_period != null || sent.rotation_period_days != null;
  const isOnce = rotationPeriodMs(cadence) === undefined && stored?.nextAt != null;
  const merged = {
    ...(key_transition_period_ms === undefined ? {} : { key_transition_period_ms }),
    ...(isOther ? {} : cadence),
    ...(isOnce && !isOther ? { next_rotation_at: stored.nextAt } : {}),
    ...sent,
  };
  return parseInput(holder, { rotation_policy: merged }, 'body').rotation_policy;
}

/**
 * When a key that has just got a new secret wants the next one: not before the
 * overlap is over, since a key has two secrets at most. A single date that is
 * over by then leaves none.
 */
export function nextAfterRotation(
  { policy, nextAt }: RotationPlan,
  { now, overlapEndsAt }: { now: Date; overlapEndsAt: Date },
): Date | null {
  const cadence = cadenceOf(policy ?? {});
  const next = nextOccurrence(cadence, { after: now });
  if (next === undefined) return nextAt !== null && nextAt > overlapEndsAt ? nextAt : null;
  if (next > overlapEndsAt) return next;
  // Another ten days would be twice what a policy of ten days asks for.
  const later = cadence.days == null ? cadence : { days: 1 };
  return nextOccurrence(later, { after: overlapEndsAt }) ?? null;
}

function planEnforced(
  sent: SentRotationPolicy | null | undefined,
  stored: RotationPlan | undefined,
  days: number,
  now: Date,
): RotationPlan {
  const kept = stored?.policy != null && daysOf(stored.policy) === days;
  if (sent === undefined && kept) return stored;
  if (sent === null && stored !== undefined)
    throw invalidField(field, `is set by the organisation: every ${days} days`);
  const asked = daysOf(sent ?? {});
  if (asked !== undefined && asked !== days)
    throw invalidField(
      `${field}.${sent?.rotation_period == null ? 'rotation_period_days' : 'rotation_period'}`,
      `is set by the organisation: every ${days} days`,
    );
  const transition =
    sent?.key_transition_period_ms ?? (kept ? stored.policy?.key_transition_period_ms : undefined);
  if (transition !== undefined && transition >= days * dayMs)
    throw invalidField(`${field}.key_transition_period_ms`, 'must be shorter than the period');
  const policy: RotationPolicy = { rotation_period_days: days };
  if (transition !== undefined) policy.key_transition_period_ms = transition;
  const nextAt = (kept ? stored.nextAt : null) ?? (nextOf(policy, now) as Date);
  const date = sent?.next_rotation_at;
  if (date == null) return { policy, nextAt };
  const askedAt = midnightOf(date);
  if (kept && askedAt.getTime() !== nextAt.getTime())
    throw invalidField(`${field}.next_rotation_at`, 'is set by the organisation');
  if (askedAt > nextAt)
    throw invalidField(`${field}.next_rotation_at`, `must not be after ${nextAt.toISOString()}`);
  return { policy, nextAt: futureMidnight(date, stored, now) };
}

/** A date in the past is a mistake, unless it is what the key has already: then somebody sends back what they read. */
function futureMidnight(date: Date, stored: RotationPlan | undefined, now: Date): Date {
  const midnight = midnightOf(date);
  if (midnight <= now && midnight.getTime() !== stored?.nextAt?.getTime())
    throw invalidField(
      `${field}.next_rotation_at`,
      `must lie in the future; it stands for ${midnight.toISOString()}`,
    );
  return midnight;
}

function nextOf(policy: RotationPolicy, now: Date): Date | null {
  return nextOccurrence(cadenceOf(policy), { after: now }) ?? null;
}

function cadenceOf(policy: RotationPolicy): Cadence {
  return { period: policy.rotation_period, days: policy.rotation_period_days };
}

function sameCadence(one: RotationPolicy, other: RotationPolicy): boolean {
  return (
    (one.rotation_period ?? null) === (other.rotation_period ?? null) &&
    (one.rotation_period_days ?? null) === (other.rotation_period_days ?? null) &&
    rotationPeriodMs(one) !== undefined
  );
}

/** A week is 7 days and a month 30, where both are compared with a number of days. */
function daysOf(policy: RotationPolicy): number | undefined {
  if (policy.rotation_period_days != null) return policy.rotation_period_days;
  if (policy.rotation_period == null) return undefined;
  return policy.rotation_period === 'weekly' ? 7 : 30;
}
