import { z } from 'zod';
import { instantField } from '../../fields/fields.ts';

/** The shortest and the usual overlap of a rotation: half an hour. */
export const keyTransitionMsMin = 1_800_000;

const dayMs = 86_400_000;

/** How often a key wants a new secret, and how long the old one works on. */
export interface RotationPolicy {
  rotation_period?: 'weekly' | 'monthly' | null | undefined;
  rotation_period_days?: number | null | undefined;
  key_transition_period_ms?: number | undefined;
}

/** How long a key of this policy lives between two rotations; a month counts as its shortest. */
export function rotationPeriodMs(policy: RotationPolicy): number | undefined {
  if (policy.rotation_period_days != null) return policy.rotation_period_days * dayMs;
  if (policy.rotation_period == null) return undefined;
  return (policy.rotation_period === 'weekly' ? 7 : 28) * dayMs;
}

const fields = {
  rotation_period: z.enum(['weekly', 'monthly']).nullish(),
  rotation_period_days: z.int().min(1).max(365).nullish(),
  next_rotation_at: instantField.nullish(),
  key_transition_period_ms: z.int().min(keyTransitionMsMin).optional(),
};

/** What of a policy is to change: what is left out stays. */
export const rotationPolicyChange = z.object(fields);
export type SentRotationPolicy = z.infer<typeof rotationPolicyChange>;

/** What a policy comes to, whoever said which part of it. */
function whole<Schema extends z.ZodType<SentRotationPolicy>>(schema: Schema) {
  return schema
    .refine((policy) => policy.rotation_period == null || policy.rotation_period_days == null, {
      path: ['rotation_period_days'],
      message: 'excludes rotation_period',
    })
    .refine(
      (policy) =>
        policy.rotation_period != null ||
        policy.rotation_period_days != null ||
        policy.next_rotation_at != null,
      {
        message: 'needs rotation_period, rotation_period_days or next_rotation_at',
      },
    )
    .refine(
      (policy) => (policy.key_transition_period_ms ?? 0) < (rotationPeriodMs(policy) ?? Infinity),
      {
        path: ['key_transition_period_ms'],
        message: 'must be shorter than the period',
      },
    );
}

/** As it is sent: with the next date, if that is not the one that follows from the period. */
export const rotationPolicy = whole(z.object(fields));

/** The same as it was read: what a change comes to. */
export const changedRotationPolicy = whole(
  z.object({ ...fields, next_rotation_at: z.date().nullish() }),
);
