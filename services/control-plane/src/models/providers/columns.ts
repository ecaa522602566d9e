import type { BodyOf, UsageLimits } from '@sluice/contracts/admin';
import { noJson } from '../../kernel/database/no-json.ts';
import { plannedUsageLimits, raisesCredit } from '../../limits/usage-limits/usage-limits.ts';
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
    rateLimits: body.rate_limits ?? [],
    expiresAt: body.expires_at ?? null,
    createdAt: now,
    updatedAt: now,
  };
}

/** What a field leaves out stays; an explicit null clears. Whoever may spend more is active again. */
export function changedColumns(
  provider: ProviderRow,
  body: Pick<BodyOf<'providers.update'>, Common | 'name' | 'reset_usage'>,
  now: Date,
) {
  const stored = provider.usageLimits as UsageLimits | null;
  const reactivates = body.reset_usage === true || raisesCredit(body.usage_limits, stored);
  return {
    name: body.name,
    note: body.note,
    usageLimits:
      body.usage_limits === null
        ? noJson
        : body.usage_limits && plannedUsageLimits(body.usage_limits, stored, now),
    rateLimits: body.rate_limits === null ? [] : body.rate_limits,
    expiresAt: body.expires_at,
    status: reactivates ? 'active' : undefined,
    lastResetAt: body.reset_usage === true ? now : undefined,
    updatedAt: now,
  };
}
