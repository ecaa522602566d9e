import { z } from 'zod';
import { instantField, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';

const unpriced = z.enum(['pass', 'refuse']);

/** Ours: how a limit is kept, where it is not as limits are kept by default. */
export const rateRules = {
  shadow: z.boolean().nullish(),
  admission: z.literal('strict').nullish(),
  estimate: z.literal('observed').nullish(),
  without_shared: z.enum(['share', 'lease', 'allow', 'refuse']).nullish(),
};
export const budgetRules = { ...rateRules, unpriced: unpriced.nullish() };
export type LimitRules = z.infer<z.ZodObject<typeof budgetRules>>;

/** The same as they are shown: only what was set. */
export const shownRateRules = {
  shadow: z.boolean().optional(),
  admission: z.literal('strict').optional(),
  estimate: z.literal('observed').optional(),
  without_shared: z.enum(['share', 'lease', 'allow', 'refuse']).optional(),
};
export const shownBudgetRules = { ...shownRateRules, unpriced: unpriced.optional() };

/** Counters count nano-dollars, tokens and requests, all exact up to here. */
export const countedMax = Number.MAX_SAFE_INTEGER;
export const nanoUsdPerUsd = 1e9;

/** The most that a budget may grant, in dollars, tokens or requests. */
export function creditLimitMax(type: 'cost' | 'tokens' | 'requests'): number {
  return type === 'cost' ? Math.floor(countedMax / nanoUsdPerUsd) : countedMax;
}

const budgetFields = {
  credit_limit: z.int().min(1),
  type: z.enum(['cost', 'tokens']),
  alert_threshold: z.int().min(1).nullish(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullish(),
  periodic_reset_days: z.int().min(1).max(365).nullish(),
  next_usage_reset_at: instantField.transform((date) => date.toISOString()).nullish(),
  ...budgetRules,
};

/** How much may be spent: in dollars or tokens, reset or not. */
export const usageLimits = z
  .object({ ...budgetFields, type: budgetFields.type.default('cost') })
  .superRefine(({ type, credit_limit, alert_threshold }, context) => {
    const max = creditLimitMax(type);
    if (credit_limit > max)
      context.addIssue({
        code: 'custom',
        path: ['credit_limit'],
        message: `must be at most ${max} for ${type}`,
      });
    if (alert_threshold != null && alert_threshold >= credit_limit)
      context.addIssue({
        code: 'custom',
        path: ['alert_threshold'],
        message: 'must be below credit_limit',
      });
  })
  .refine((limits) => limits.periodic_reset == null || limits.periodic_reset_days == null, {
    path: ['periodic_reset_days'],
    message: 'excludes periodic_reset',
  });

/** A change of the one budget that a holder has: what is left out stays, null clears. What comes of it is judged as a whole. */
export const usageLimitsChange = z.object({
  ...budgetFields,
  credit_limit: budgetFields.credit_limit.optional(),
  type: budgetFields.type.optional(),
});
export type UsageLimitsChange = z.infer<typeof usageLimitsChange>;

export type UsageLimits = z.infer<typeof usageLimits>;

/** What tells the budgets of one holder apart: of the same thing in the same period there is one. */
export function budgetKind(limits: UsageLimits): string {
  return `${limits.type} ${limits.periodic_reset ?? limits.periodic_reset_days ?? ''}`;
}

/** A list of limits in which none is of the same kind as another. */
function distinct<T extends z.ZodType>(
  limit: T,
  max: number,
  kindOf: (limit: z.output<T>) => string,
) {
  return z
    .array(limit)
    .max(max)
    .superRefine((limits, context) => {
      const kinds = limits.map(kindOf);
      for (const [index, kind] of kinds.entries())
        if (kinds.indexOf(kind) < index)
          context.addIssue({
            code: 'custom',
            path: [index],
            message: `is of the same kind as [${kinds.indexOf(kind)}]`,
          });
    });
}

export const usageLimitsList = distinct(usageLimits, 20, budgetKind);

const value = z.int().min(0);

/** How often: on workspaces, providers and integrations. Keys may count by second too. */
const rateLimit = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpm', 'rph', 'rpd', 'rpw']),
  value,
  ...rateRules,
});
const keyRateLimit = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rps', 'rpm', 'rph', 'rpd', 'rpw']),
  value,
  ...rateRules,
});

export type RateLimit = z.infer<typeof rateLimit>;
export type RateLimitSetting = z.infer<typeof keyRateLimit>;

/** The same for rates. */
export function rateKind({ type, unit }: RateLimitSetting): string {
  return `${type} ${unit}`;
}

export const rateLimits = distinct(rateLimit, 20, rateKind);
export const keyRateLimits = distinct(keyRateLimit, 20, rateKind);

/** One limit or a list of them, kept as a list. */
export const rateLimitOrList = z.union([rateLimit.transform((limit) => [limit]), rateLimits]);

/** What limits show of themselves beside what was set. */
const identity = {
  /** Ours: names the limit in records and reports; stays while its type and unit do. */
  id: z.uuid().optional(),
};

export const shownRateLimit = rateLimit
  .extend({ ...shownRateRules, ...identity })
  .register(shapeNames, { name: 'RateLimit' });
export const shownKeyRateLimit = keyRateLimit
  .extend({ ...shownRateRules, ...identity })
  .register(shapeNames, { name: 'KeyRateLimit' });

/** How much of a budget is used, in its unit. */
export const shownUsage = {
  current_usage: z.number(),
  /** Ours: what requests in flight hold of it. */
  reserved: z.number(),
  /** Ours: by how much requests in flight may take it beyond the limit at most, or further beyond it. */
  overshoot_bound: z.number(),
};

/** Usage limits as they are shown: what was never set is null, or left out where null is not published. */
export const shownUsageLimits = z
  .object({
    ...identity,
    credit_limit: z.int(),
    type: z.enum(['cost', 'tokens']),
    alert_threshold: z.int().optional(),
    periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
    periodic_reset_days: z.int().nullable(),
    next_usage_reset_at: instantText.nullable(),
    last_reset_at: instantText.nullable(),
    status: z.enum(['active', 'exhausted']).optional(),
    ...z.object(shownUsage).partial().shape,
    ...shownBudgetRules,
  })
  .register(shapeNames, { name: 'UsageLimit' });
export type ShownUsageLimits = z.infer<typeof shownUsageLimits>;
