import type { AnswerOf } from '@sluice/contracts/admin';
import type { McpIntegration } from '../../generated/prisma/client.ts';
import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { listOffers, OfferRow } from '../registry/offers-store.ts';
import { presentIntegration } from '../registry/present.ts';
import type { FoundServer } from '../registry/tables.ts';
import type { McpTypes } from './mcp-types.ts';
import type { IntegrationPolicy } from './policy.ts';

type ListItem = AnswerOf<'mcp-integrations.list'>['data'][number];
type ServerItem = AnswerOf<'mcp-servers.list'>['data'][number];
type Capability = AnswerOf<'mcp-integrations.capabilities.list'>['data'][number];

export function presentMcpIntegration(row: McpIntegration) {
  const { prices, ...policy } = row.policy as IntegrationPolicy;
  return {
    ...presentIntegration(row),
    auth_type: row.authType as ListItem['auth_type'],
    transport: row.transport as ListItem['transport'],
    new_capabilities: row.newCapabilities as ListItem['new_capabilities'],
    on_drift: row.onDrift as ListItem['on_drift'],
    policy,
    prices: prices ?? {},
  };
}

/** Until a server was asked, its synchronisation is pending; a merged one is not asked. */
export function presentMetadata(row: McpIntegration | null): AnswerOf<'mcp-servers.metadata.read'> {
  return {
    server_name: row?.serverName ?? null,
    server_version: row?.serverVersion ?? null,
    protocol_version: row?.protocolVersion ?? null,
    capability_flags: (row?.capabilityFlags ?? null) as Record<string, unknown> | null,
    sync_status: row === null ? null : (row.syncStatus ?? 'pending'),
    last_synced_at: optionalInstant(row?.lastSyncedAt ?? null),
    sync_error: row?.syncError ?? null,
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

/** Which integration answers for a server; a merged one has none. */
export function presentBehind({ integrationId, integration }: FoundServer<McpTypes>) {
  return { mcp_integration_id: integrationId, mcp_integration_slug: integration?.slug ?? null };
}

/** What servers have of ours, beside what is published. */
export function presentMerged(row: McpTypes['server']) {
  return {
    members: (row.members as { server_id: string; tools?: string[] }[]).map(
      ({ server_id, tools = [] }) => ({ server_id, tools }),
    ),
    prefix: row.prefix as ServerItem['prefix'],
    exposure: row.exposure as ServerItem['exposure'],
    policy: row.policy as Record<string, unknown>,
  };
}
