import { instant } from '../http/shapes.ts';
import type { GrantRow, IntegrationModelRow, IntegrationRow } from './store.ts';

export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    ai_provider_id: row.aiProviderId,
    name: row.name,
    status: row.status,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    slug: row.slug,
    description: row.description ?? '',
    tags: row.tags,
    object: 'integration',
  };
}

export function presentIntegrationDetail(row: IntegrationRow, workspaceCount: number) {
  return {
    ...presentIntegration(row),
    masked_key: row.maskedKey ?? '',
    configurations: row.configurations,
    global_workspace_access_settings: row.globalAccess,
    allow_all_models: row.allowAllModels,
    workspace_count: row.workspaceId === null ? workspaceCount : 1,
    secret_mappings: row.secretMappings,
    pricing_adjustments: row.pricingAdjustments,
  };
}

export function presentModel(row: IntegrationModelRow) {
  return {
    slug: row.slug,
    name: row.slug,
    enabled: row.enabled,
    is_custom: row.isCustom,
    is_finetune: row.isFinetune,
    base_model_slug: row.baseModelSlug,
    pricing_config: row.pricingConfig ?? undefined,
    configurations: row.configurations,
  };
}

export function presentGrant(row: GrantRow & { workspace: { slug: string } }) {
  return {
    id: row.workspace.slug,
    workspace_id: row.workspaceId,
    enabled: row.enabled,
    usage_limits: row.usageLimits,
    rate_limits: row.rateLimits,
  };
}
