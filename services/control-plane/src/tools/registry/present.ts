import type { SecretMapping } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type { FoundServer, IntegrationRow } from './tables.ts';

/** Whose an integration is: this decides the scopes it is guarded by. */
export function levelOf(workspaceId: string | null | undefined): 'organisation' | 'workspace' {
  return workspaceId == null ? 'organisation' : 'workspace';
}

/** What integrations of both kinds show. */
export function presentIntegration(row: IntegrationRow) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    slug: row.slug,
    name: row.name,
    description: row.description,
    owner_id: row.ownerId,
    status: row.status,
    type: levelOf(row.workspaceId),
    url: row.url,
    configurations: row.configurations as Record<string, unknown>,
    secret_mappings: row.secretMappings as unknown as SecretMapping[],
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}

export function presentGlobalAccess(row: IntegrationRow) {
  return row.globalAccess as Record<string, unknown> | null;
}

/** What servers of both kinds show, but for the address callers use. */
export function presentServer(row: FoundServer) {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    workspace_name: row.workspace.name,
    workspace_slug: row.workspace.slug,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status,
    owner_id: row.ownerId,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}
