import type { AnswerOf, ShownRateLimit, ShownUsageLimits } from '@sluice/contracts/admin';
import { instant, optionalInstant } from '../http/shapes.ts';
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
    configurations: row.configurations as Record<string, unknown>,
    global_workspace_access_settings:
      row.globalAccess as Detail['global_workspace_access_settings'],
    allow_all_models: row.allowAllModels,
    workspace_count: row.workspaceId === null ? workspaceCount : 1,
    secret_mappings: row.secretMappings as Detail['secret_mappings'],
    pricing_adjustments: row.pricingAdjustments as Detail['pricing_adjustments'],
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
    configurations: row.configurations as Model['configurations'],
  };
}

export function presentGrant(row: GrantRow & { workspace: { slug: string } }): Grant {
  return {
    id: row.workspace.slug,
    workspace_id: row.workspaceId,
    enabled: row.enabled,
    usage_limits: row.usageLimits as ShownUsageLimits[] | null,
    rate_limits: row.rateLimits as ShownRateLimit[] | null,
    last_reset_at: optionalInstant(row.lastResetAt),
  };
}
