import { z } from 'zod';
import { instantField, nameField, referenceField, slugField } from './fields.ts';
import { rateLimitOrList, usageLimits } from './limits.ts';
import { pageQuery } from './paging.ts';

const shared = {
  note: z.string().max(2000).nullish(),
  usage_limits: usageLimits.nullish(),
  rate_limits: rateLimitOrList.nullish(),
  expires_at: instantField.nullish(),
};

export const createProviderBody = z.object({
  name: nameField,
  /** The integration's slug, despite the name; its UUID works too. */
  integration_id: referenceField,
  slug: slugField.optional(),
  ...shared,
});
export type CreateProviderBody = z.infer<typeof createProviderBody>;

export const updateProviderBody = z.object({
  name: nameField.optional(),
  reset_usage: z.boolean().optional(),
  ...shared,
});
export type UpdateProviderBody = z.infer<typeof updateProviderBody>;

export const listProvidersQuery = z
  .object({ workspace_id: referenceField.optional() })
  .and(pageQuery({ default: 50, max: 1000 }));
