import type { AnswerOf, GlobalWorkspaceAccess } from '@sluice/contracts/admin';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { Usages } from '../../limits/usage/usage-of.ts';
import { laterOf, presentUsageLimits } from '../../limits/usage-limits/present.ts';
import { type StoredUsageLimits, setRules } from '../../limits/usage-limits/stored-limits.ts';
import { withHeadersMasked } from './configurations.ts';
import type { GrantRow, IntegrationModelRow, IntegrationRow } from './store.ts';

type Detail = AnswerOf<'integrations.read'>;
type Model = AnswerOf<'integrations.models.list'>['models'][number];
type Grant = AnswerOf<'integrations.workspaces.list'>['workspaces'][number];

export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    ai_provider_id: row.aiProviderId,
    name: row.name,
    status: row.status as Detail['status'],
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    slug: row.slug,
    description: row.description ?? '',
    tags: row.tags as Detail['tags'],
    object: 'integration' as const,
  };
}

export function presentIntegrationDetail(row: IntegrationRow, workspaceCount: number): Detail {
  return {
    ...presentIntegration(row),
    masked_key: row.maskedKey ?? '',
    configurations: withHeadersMasked(row.configurations as Record<string, unknown>),
    global_workspace_access_settings: presentGlobalAccess(row),
    allow_all_models: row.allowAllModels,
    workspace_count: row.workspaceId === null ? workspaceCount : 1,
    secret_mappings: row.secretMappings as Detail['secret_mappings'],
    pricing_adjustments: row.pricingAdjustments as Detail['pricing_adjustments'],
  };
}

/** What workspaces that come later are given. */
export function presentGlobalAccess({
  globalAccess,
}: Pick<IntegrationRow, 'globalAccess'>): Detail['global_workspace_access_settings'] {
  if (globalAccess === null) return { enabled: false, usage_limits: null, rate_limits: null };
  const { enabled, usage_limits, rate_limits } = globalAccess as unknown as GlobalWorkspaceAccess;
  return {
    enabled,
    usage_limits: usage_limits?.map(presentTemplate) ?? null,
    rate_limits:
      rate_limits?.map(({ type, unit, value, ...rules }) => ({
        type,
        unit,
        value,
        ...setRules(rules),
      })) ?? null,
  };
}

/** Nobody holds it: it has neither an id nor a usage. */
function presentTemplate(limits: NonNullable<GlobalWorkspaceAccess['usage_limits']>[number]) {
  return {
    credit_limit: limits.credit_limit,
    type: limits.type,
    alert_threshold: limits.alert_threshold ?? undefined,
    periodic_reset: limits.periodic_reset ?? null,
    periodic_reset_days: limits.periodic_reset_days ?? null,
    next_usage_reset_at: limits.next_usage_reset_at ?? null,
    last_reset_at: null,
    ...setRules(limits),
  };
}

export function presentModel(row: IntegrationModelRow): Model {
  return {
    slug: row.slug,
    name: row.slug,
    enabled: row.enabled,
    is_custom: row.isCustom,
    is_finetune: row.isFinetune,
    base_model_slug: row.baseModelSlug,
    pricing_config: (row.pricingConfig ?? undefined) as Model['pricing_config'],
    configurations: withHeadersMasked(
      row.configurations as Record<string, unknown>,
    ) as Model['configurations'],
  };
}

/** @param usages  what is used of its budget; undefined = that is not told */
export function presentGrant(
  row: GrantRow & { workspace: { slug: string } },
  now: Date,
  usages?: Usages,
): Grant {
  const limits = (row.usageLimits as StoredUsageLimits[] | null)?.map((each) =>
    presentUsageLimits(each, now, usages),
  );
  return {
    id: row.workspace.slug,
    workspace_id: row.workspaceId,
    enabled: row.enabled,
    usage_limits: limits ?? null,
    rate_limits: row.rateLimits as Grant['rate_limits'],
    last_reset_at: laterOf(optionalInstant(row.lastResetAt), limits?.[0]?.last_reset_at ?? null),
  };
}
