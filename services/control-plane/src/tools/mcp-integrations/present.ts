import type { AnswerOf } from '@sluice/contracts/admin';
import type { McpIntegration } from '../../generated/prisma/client.ts';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { listOffers, OfferRow } from '../registry/offers-store.ts';
import { presentIntegration } from '../registry/present.ts';

type ListItem = AnswerOf<'mcp-integrations.list'>['data'][number];
type Capability = AnswerOf<'mcp-integrations.capabilities.list'>['data'][number];

export function presentMcpIntegration(row: McpIntegration) {
  return {
    ...presentIntegration(row),
    auth_type: row.authType as ListItem['auth_type'],
    transport: row.transport as ListItem['transport'],
  };
}

/** Until a server was asked, its synchronisation is pending. */
export function presentMetadata(row: McpIntegration): AnswerOf<'mcp-servers.metadata.read'> {
  return {
    server_name: row.serverName,
    server_version: row.serverVersion,
    protocol_version: row.protocolVersion,
    capability_flags: row.capabilityFlags as Record<string, unknown> | null,
    sync_status: row.syncStatus ?? 'pending',
    last_synced_at: optionalInstant(row.lastSyncedAt),
    sync_error: row.syncError,
  };
}

/** Servers write what they like into these fields; what is not of the published type is not shown. */
export function presentCapability(row: OfferRow): Capability {
  const { detail } = row;
  const text = (name: string) => (typeof detail[name] === 'string' ? detail[name] : null);
  const list = (name: string) => (Array.isArray(detail[name]) ? detail[name] : null);
  const object = (name: string) =>
    typeof detail[name] === 'object' && list(name) === null
      ? (detail[name] as Record<string, unknown> | null)
      : null;
  return {
    name: row.name,
    type: row.type as Capability['type'],
    title: text('title'),
    description: text('description'),
    icons: list('icons'),
    enabled: row.enabled,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    input_schema: object('input_schema'),
    output_schema: object('output_schema'),
    execution: object('execution'),
    annotations: object('annotations'),
    arguments: list('arguments'),
    uri: text('uri'),
    uri_template: text('uri_template'),
    mime_type: text('mime_type'),
    size: typeof detail.size === 'number' ? detail.size : null,
  };
}

/** Of all types, whichever were asked for. */
export function presentCounts(counts: Awaited<ReturnType<typeof listOffers>>['counts']) {
  const count = (type: Capability['type']) => counts.get(type) ?? { total: 0, enabled: 0 };
  return {
    tools: count('tool'),
    prompts: count('prompt'),
    resources: count('resource'),
    resource_templates: count('resource_template'),
  };
}
