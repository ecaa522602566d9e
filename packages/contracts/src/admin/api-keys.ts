import { z } from 'zod';
import { normaliseScope } from '../scopes.ts';
import {
  descriptionField,
  instantField,
  metadataField,
  nameField,
  referenceField,
} from './fields.ts';
import { keyRateLimit, usageLimits } from './limits.ts';
import { commaList, pageQuery } from './paging.ts';

/** The shortest and the usual overlap of a rotation: half an hour. */
export const keyTransitionMsMin = 1_800_000;

const dayMs = 86_400_000;

/** When a key gets a new secret by itself, and how long the old one works on. */
export interface RotationPolicy {
  rotation_period?: 'weekly' | 'monthly' | null | undefined;
  rotation_period_days?: number | null | undefined;
  next_rotation_at?: string | null | undefined;
  key_transition_period_ms?: number | undefined;
}

/** How long a key of this policy lives between two rotations; a month counts as its shortest. */
export function rotationPeriodMs(policy: RotationPolicy): number | undefined {
  if (policy.rotation_period_days != null) return policy.rotation_period_days * dayMs;
  if (policy.rotation_period == null) return undefined;
  return (policy.rotation_period === 'weekly' ? 7 : 28) * dayMs;
}

/** Keys are rotated at midnight UTC. */
function midnight(date: Date): string {
  return `${date.toISOString().slice(0, 10)}T00:00:00.000Z`;
}

const rotationPolicy = z
  .object({
    rotation_period: z.enum(['weekly', 'monthly']).nullish(),
    rotation_period_days: z.int().min(1).max(365).nullish(),
    next_rotation_at: instantField.transform(midnight).nullish(),
    key_transition_period_ms: z.int().min(keyTransitionMsMin).optional(),
  })
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

const scopes = z
  .array(z.string().max(128))
  .min(1)
  .max(200)
  .transform((list) => [...new Set(list.map(normaliseScope))]);

const defaults = z.object({
  metadata: metadataField.nullish(),
  config_id: referenceField.nullish(),
  allow_config_override: z.boolean().optional(),
});

const shared = {
  description: descriptionField.nullish(),
  rate_limits: z.array(keyRateLimit).max(20).nullish(),
  usage_limits: usageLimits.nullish(),
  defaults: defaults.nullish(),
  alert_emails: z.array(z.email().max(320)).max(50).nullish(),
  expires_at: instantField.nullish(),
  rotation_policy: rotationPolicy.nullish(),
};

export const createApiKeyBody = z.object({
  name: nameField,
  scopes,
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.optional(),
  user_id: z.uuid().optional(),
  ...shared,
});
export type CreateApiKeyBody = z.infer<typeof createApiKeyBody>;

export const updateApiKeyBody = z.object({
  name: nameField.optional(),
  scopes: scopes.optional(),
  reset_usage: z.boolean().optional(),
  ...shared,
});
export type UpdateApiKeyBody = z.infer<typeof updateApiKeyBody>;

export const rotateApiKeyBody = z.object({
  key_transition_period_ms: z.int().min(keyTransitionMsMin).optional(),
});

export const listApiKeysQuery = z
  .object({
    workspace_id: referenceField.optional(),
    ids: commaList().pipe(z.array(z.uuid())).optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));
