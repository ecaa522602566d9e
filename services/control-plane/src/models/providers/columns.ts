import type { BodyOf } from '@sluice/contracts/admin';
import { noJson } from '../../kernel/database/no-json.ts';
import { changedUsageLimits } from '../../limits/usage-limits/changed-limits.ts';
import { plannedRateLimits } from '../../limits/usage-limits/rate-limits.ts';
import type {
  StoredRateLimit,
  StoredUsageLimits,
} from '../../limits/usage-limits/stored-limits.ts';
import { plannedUsageLimits } from '../../limits/usage-limits/usage-limits.ts';
import type { ProviderRow } from './store.ts';

type Common = 'note' | 'usage_limits' | 'rate_limits' | 'expires_at';

/** The columns that a new provider and a new virtual key have in common. */
export function createdColumns(
  body: Pick<BodyOf<'providers.create'>, Common | 'name'>,
  workspace: { id: string; organisationId: string },
  now: Date,
) {
  return {
    organisationId: workspace.organisationId,
    workspaceId: workspace.id,
    name: body.name,
    note: body.note ?? null,
    usageLimits:
      body.usage_limits == null ? noJson : plannedUsageLimits(body.usage_limits, null, now),
    rateLimits: plannedRateLimits(body.rate_limits ?? [], []),
    expiresAt: body.expires_at ?? null,
    createdAt: now,
    updatedAt: now,
  };
}

/** What a field leaves out stays; an explicit null clears. */
export function changedColumns(
  provider: ProviderRow,
  body: Pick<BodyOf<'providers.update'>, Common | 'name' | 'reset_usage'>,
  now: Date,
) {
  return {
    name: body.name,
    note: body.note,
    usageLimits: changedUsageLimits(provider.usageLimits as StoredUsageLimits | null, body, now),
    rateLimits:
      body.rate_limits === undefined
        ? undefined
        : plannedRateLimits(body.rate_limits ?? [], provider.rateLimits as StoredRateLimit[]),
    expiresAt: body.expires_at,
    lastResetAt: body.reset_usage === true ? now : undefined,
    updatedAt: now,
  };
}
