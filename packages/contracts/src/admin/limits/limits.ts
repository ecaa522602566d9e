import { z } from 'zod';
import { instantField, instantText } from '../kernel/fields.ts';

/** How much may be spent: in dollars or tokens, reset or not. */
export const usageLimits = z
  .object({
    credit_limit: z.int().min(1),
    type: z.enum(['cost', 'tokens']).default('cost'),
    alert_threshold: z.int().min(1).nullish(),
    periodic_reset: z.enum(['monthly', 'weekly']).nullish(),
    periodic_reset_days: z.int().min(1).max(365).nullish(),
    next_usage_reset_at: instantField.transform((date) => date.toISOString()).nullish(),
  })
  .refine(
    (limits) => limits.alert_threshold == null || limits.alert_threshold < limits.credit_limit,
    {
      path: ['alert_threshold'],
      message: 'must be below credit_limit',
    },
  )
  .refine((limits) => limits.periodic_reset == null || limits.periodic_reset_days == null, {
    path: ['periodic_reset_days'],
    message: 'excludes periodic_reset',
  });

export type UsageLimits = z.infer<typeof usageLimits>;

const value = z.int().min(0);

/** How often: on workspaces, providers and integrations. Keys may count by second too. */
export const rateLimit = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd', 'rpw']),
  value,
});
export const keyRateLimit = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rps', 'rpm', 'rph', 'rpd', 'rpw']),
  value,
});

export type RateLimit = z.infer<typeof rateLimit>;
export type RateLimitSetting = z.infer<typeof keyRateLimit>;

/** One limit or a list of them, kept as a list. */
export const rateLimitOrList = z.union([
  rateLimit.transform((limit) => [limit]),
  z.array(rateLimit).max(20),
]);

/** Usage limits as they are shown: what was never set is null, or left out where null is not published. */
export const shownUsageLimits = z.object({
  credit_limit: z.int(),
  type: z.enum(['cost', 'tokens']),
  alert_threshold: z.int().optional(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
});
export type ShownUsageLimits = z.infer<typeof shownUsageLimits>;
