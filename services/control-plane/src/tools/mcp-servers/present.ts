import { mcpServerUrl } from '@sluice/contracts';
import type { AnswerOf } from '@sluice/contracts/admin';
import { type Caller, isServiceKey } from '../../kernel/access/caller.ts';
import { instant } from '../../kernel/http/shapes.ts';
import type { McpTypes } from '../mcp-integrations/mcp-types.ts';
import { presentBehind, presentCapability, presentMerged } from '../mcp-integrations/present.ts';
import type { OfferRow } from '../registry/offers-store.ts';
import { presentServer } from '../registry/present.ts';
import type { FoundServer } from '../registry/tables.ts';
import type { ShownAs } from './shown-as.ts';

export function presentMcpServer(row: FoundServer<McpTypes>, baseUrl: string) {
  return {
    ...presentServer(row),
    ...presentBehind(row),
    mcp_integration_url: row.integration?.url ?? null,
    auth_type: row.integration?.authType ?? null,
    url: mcpServerUrl(baseUrl, row.slug),
    ...presentMerged(row),
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
    url: mcpServerUrl(baseUrl, row.slug),
    mcp_integration_id: row.integrationId,
    ...presentMerged(row),
    mcp_integration_details:
      isService && integration !== null
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

export function presentServerCapability(row: OfferRow, shown: ShownAs | undefined, caller: Caller) {
  return {
    ...presentCapability(row),
    integration_enabled: isServiceKey(caller) ? row.integrationEnabled : null,
    renamed_to: shown?.renamed_to ?? null,
    described_as: shown?.described_as ?? null,
    fixed_arguments: shown?.fixed_arguments ?? null,
    hidden_arguments: shown?.hidden_arguments ?? null,
  };
}
