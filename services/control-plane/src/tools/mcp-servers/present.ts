import type { AnswerOf } from '@sluice/contracts/admin';
import { type Caller, isServiceKey } from '../../kernel/access/caller.ts';
import { instant } from '../../kernel/http/shapes.ts';
import type { McpTypes } from '../mcp-integrations/kind.ts';
import { presentCapability } from '../mcp-integrations/present.ts';
import type { OfferRow } from '../registry/offers-store.ts';
import { presentServer } from '../registry/present.ts';
import type { FoundServer } from '../registry/tables.ts';

/** The address that clients of the server are given. */
export function serverUrl(baseUrl: string, slug: string): string {
  return `${baseUrl}/${slug}/mcp`;
}

export function presentMcpServer(row: FoundServer<McpTypes>, baseUrl: string) {
  return {
    ...presentServer(row),
    mcp_integration_id: row.integrationId,
    mcp_integration_slug: row.integration.slug,
    mcp_integration_url: row.integration.url,
    auth_type: row.integration.authType,
    url: serverUrl(baseUrl, row.slug),
  };
}

/** Service keys are shown the integration behind it, too. */
export function presentMcpServerDetail(
  row: FoundServer<McpTypes>,
  baseUrl: string,
  caller: Caller,
): AnswerOf<'mcp-servers.read'> {
  const { integration } = row;
  const isService = isServiceKey(caller);
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    status: row.status,
    description: row.description,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    url: serverUrl(baseUrl, row.slug),
    mcp_integration_id: row.integrationId,
    mcp_integration_details: isService
      ? {
          id: integration.id,
          slug: integration.slug,
          status: integration.status,
          configurations: integration.configurations as Record<string, unknown>,
          url: integration.url,
          transport: integration.transport,
          auth_type: integration.authType,
        }
      : null,
    workspace_id: isService ? row.workspaceId : null,
  };
}

export function presentServerCapability(row: OfferRow, caller: Caller) {
  return {
    ...presentCapability(row),
    integration_enabled: isServiceKey(caller) ? row.integrationEnabled : null,
  };
}
