import { z } from 'zod';
import {
  descriptionField,
  hostField,
  instantText,
  nameField,
  referenceField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { toolPolicy, toolPrices } from '../../tool-policy.ts';
import { anyKey, byLevel } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { secretMappings } from '../models/secret-mappings.ts';
import { mcpConfigurations } from './mcp-configurations.ts';
import {
  created,
  integrationWorkspaces,
  integrationWorkspacesBody,
  integrationWorkspacesQuery,
  integrationWorkspacesUnversioned,
  offerCount,
  offerName,
  offersQuery,
  registryIntegration,
  registryIntegrationsQuery,
  shownGlobalAccess,
  someField,
  succeeded,
} from './registry.ts';

const authType = z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']);
/** What would start a process is no transport. */
export const besideAdvice =
  'is not started from here: run the server beside the gateway, behind a bridge that speaks streamable HTTP, and give its url';
const transport = z.enum(['http', 'sse'], {
  error: ({ input }) =>
    input === 'stdio' || input === 'command' ? besideAdvice : 'must be one of http, sse',
});

/** What integrations have of ours, beside what is published. */
const ownSettings = {
  new_capabilities: z.enum(['enabled', 'disabled']),
  on_drift: z.enum(['alert', 'hide', 'block']),
};

const shownPolicy = z.record(z.string(), z.unknown());

const mcpIntegration = z.object({
  ...registryIntegration,
  auth_type: authType,
  transport: z.enum(['http', 'sse', 'interactive']),
  ...ownSettings,
  policy: shownPolicy,
  prices: shownPolicy,
});

/** What others' configurations start a process with. */
const notStarted = z.never({ error: besideAdvice }).optional();

const settings = {
  command: notStarted,
  args: notStarted,
  env: notStarted,
  description: descriptionField.nullish(),
  configurations: mcpConfigurations.nullish(),
  secret_mappings: secretMappings.nullish(),
  new_capabilities: ownSettings.new_capabilities.optional(),
  on_drift: ownSettings.on_drift.optional(),
  policy: toolPolicy.nullish(),
  prices: toolPrices.nullish(),
};

const createMcpIntegration = z.object({
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.nullish(),
  slug: slugField.optional(),
  name: nameField,
  url: hostField,
  auth_type: authType,
  transport,
  ...settings,
});

const updateMcpIntegration = someField(
  z.object({
    name: nameField.optional(),
    url: hostField.optional(),
    auth_type: authType.optional(),
    transport: transport.optional(),
    ...settings,
  }),
);

export const capabilityType = z.enum(['tool', 'prompt', 'resource', 'resource_template']);
export type McpCapabilityType = z.output<typeof capabilityType>;

export const mcpCapability = z
  .object({
    name: z.string(),
    type: capabilityType,
    title: z.string().nullable(),
    description: z.string().nullable(),
    icons: z.array(z.unknown()).nullable(),
    enabled: z.boolean(),
    created_at: instantText,
    last_updated_at: instantText,
    input_schema: z.record(z.string(), z.unknown()).nullable(),
    output_schema: z.record(z.string(), z.unknown()).nullable(),
    execution: z.record(z.string(), z.unknown()).nullable(),
    annotations: z.record(z.string(), z.unknown()).nullable(),
    arguments: z.array(z.unknown()).nullable(),
    uri: z.string().nullable(),
    uri_template: z.string().nullable(),
    mime_type: z.string().nullable(),
    size: z.number().nullable(),
  })
  .register(shapeNames, { name: 'McpCapability' });

export function mcpCapabilities<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    counts: z.object({
      tools: offerCount,
      prompts: offerCount,
      resources: offerCount,
      resource_templates: offerCount,
    }),
    total: z.int(),
    has_more: z.boolean(),
  });
}

export const mcpCapabilitiesQuery = z.object({ type: capabilityType.optional() }).and(offersQuery);

export const mcpCapabilitiesBody = z.object({
  capabilities: z
    .array(z.object({ name: offerName, type: capabilityType, enabled: z.boolean() }))
    .max(1000),
});

export const mcpMetadata = z
  .object({
    server_name: z.string().nullable(),
    server_version: z.string().nullable(),
    protocol_version: z.string().nullable(),
    capability_flags: z.record(z.string(), z.unknown()).nullable(),
    sync_status: z.string().nullable(),
    last_synced_at: instantText.nullable(),
    sync_error: z.string().nullable(),
  })
  .register(shapeNames, { name: 'McpMetadata' });

export const mcpTest = z
  .object({
    success: z.boolean(),
    status_code: z.int().nullable(),
    response_time_ms: z.int().nullable(),
    url: z.string().nullable(),
    server_name: z.string(),
    error: z.string().nullable(),
  })
  .register(shapeNames, { name: 'McpTest' });

const pinState = z.enum(['approved', 'drifted', 'new', 'gone']);
const definition = z.record(z.string(), z.unknown()).nullable();
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits');

/** A definition as it was approved, and as the server lists it now. */
const mcpPin = z
  .object({
    type: capabilityType,
    name: z.string(),
    state: pinState,
    pinned_hash: z.string().nullable(),
    seen_hash: z.string().nullable(),
    pinned_definition: definition,
    seen_definition: definition,
    difference: z.array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown() })),
    findings: z.array(z.record(z.string(), z.unknown())),
    pinned_by: z.string().nullable(),
    pinned_at: instantText.nullable(),
    last_seen_at: instantText,
  })
  .register(shapeNames, { name: 'McpPin' });

const pinsAdded = 'definitions of tools are pinned here, and what changes is approved';

const scopesTo = byLevel('organisation_mcp_integrations', 'workspace_mcp_integrations');

export const mcpIntegrationsEndpoints = {
  'mcp-integrations.list': endpoint({
    operationId: 'McpIntegrations_list',
    summary: 'List MCP servers that are known',
    tag: 'MCP Integrations',
    method: 'get',
    path: '/mcp-integrations',
    access: { keys: anyKey, scopes: scopesTo('list') },
    query: registryIntegrationsQuery,
    answer: z.object({
      data: z.array(mcpIntegration.extend({ workspaces_count: z.number().nullable() })),
      total: z.int(),
      has_more: z.boolean(),
    }),
  }),
  'mcp-integrations.create': endpoint({
    operationId: 'McpIntegrations_create',
    summary: 'Make an MCP server known, with its credentials',
    tag: 'MCP Integrations',
    method: 'post',
    path: '/mcp-integrations',
    access: { keys: anyKey, scopes: scopesTo('create') },
    audit: { resourceType: 'mcp_integrations', action: 'create' },
    body: createMcpIntegration,
    answer: created,
  }),
  'mcp-integrations.read': endpoint({
    operationId: 'McpIntegrations_retrieve',
    summary: 'Show one MCP server that is known',
    tag: 'MCP Integrations',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: mcpIntegration.extend({ global_workspace_access: shownGlobalAccess }),
  }),
  'mcp-integrations.update': endpoint({
    operationId: 'McpIntegrations_update',
    summary: 'Change how an MCP server is reached',
    tag: 'MCP Integrations',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'mcp_integrations', action: 'update' },
    body: updateMcpIntegration.prefault({}),
    answer: nothing,
  }),
  'mcp-integrations.delete': endpoint({
    operationId: 'McpIntegrations_delete',
    summary: 'Delete an MCP server that is known',
    tag: 'MCP Integrations',
    method: 'delete',
    path: '/mcp-integrations/{mcpIntegrationId}',
    access: { keys: anyKey, scopes: scopesTo('delete') },
    audit: { resourceType: 'mcp_integrations', action: 'delete' },
    answer: nothing,
  }),
  'mcp-integrations.workspaces.list': endpoint({
    operationId: 'McpIntegrationWorkspaces_list',
    summary: 'List the workspaces that may use an MCP server',
    tag: 'MCP Integrations > Workspaces',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: integrationWorkspacesQuery,
    answer: z.union([integrationWorkspaces, integrationWorkspacesUnversioned]),
  }),
  'mcp-integrations.workspaces.update': endpoint({
    operationId: 'McpIntegrationWorkspaces_bulkUpdate',
    summary: 'Set which workspaces may use an MCP server',
    tag: 'MCP Integrations > Workspaces',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}/workspaces',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'mcp_integrations', action: 'update' },
    body: integrationWorkspacesBody,
    listName: 'workspaces',
    answer: nothing,
  }),
  'mcp-integrations.capabilities.list': endpoint({
    operationId: 'McpIntegrationCapabilities_list',
    summary: 'List the tools, prompts and resources of an MCP server',
    tag: 'MCP Integrations > Capabilities',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/capabilities',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: mcpCapabilitiesQuery,
    answer: mcpCapabilities(mcpCapability),
  }),
  'mcp-integrations.capabilities.update': endpoint({
    operationId: 'McpIntegrationCapabilities_bulkUpdate',
    summary: 'Switch tools, prompts and resources of an MCP server on or off',
    tag: 'MCP Integrations > Capabilities',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}/capabilities',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'mcp_integrations', action: 'update' },
    body: mcpCapabilitiesBody,
    listName: 'capabilities',
    answer: succeeded,
  }),
  'mcp-integrations.pins.list': endpoint({
    operationId: 'McpIntegrationPins_list',
    summary: 'List the pinned definitions of an MCP server, and what changed',
    tag: 'MCP Integrations > Pins',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/pins',
    access: { keys: anyKey, scopes: scopesTo('read') },
    query: z
      .object({ type: capabilityType.optional(), state: pinState.optional() })
      .and(offersQuery),
    answer: z.object({ data: z.array(mcpPin), total: z.int(), has_more: z.boolean() }),
    added: pinsAdded,
  }),
  'mcp-integrations.pins.update': endpoint({
    operationId: 'McpIntegrationPins_approve',
    summary: 'Approve changed definitions of an MCP server',
    tag: 'MCP Integrations > Pins',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}/pins',
    access: { keys: anyKey, scopes: scopesTo('update') },
    audit: { resourceType: 'mcp_integrations', action: 'approve' },
    body: z.object({
      pins: z
        .array(z.object({ type: capabilityType, name: offerName, hash }))
        .min(1)
        .max(500),
    }),
    answer: succeeded,
    added: pinsAdded,
  }),
  'mcp-integrations.metadata.read': endpoint({
    operationId: 'McpIntegrationMetadata_retrieve',
    summary: 'Show what an MCP server tells of itself',
    tag: 'MCP Integrations > Metadata',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/metadata',
    access: { keys: anyKey, scopes: scopesTo('read') },
    answer: mcpMetadata,
  }),
  // Its answer is kept: what the server is and offers.
  'mcp-integrations.test': endpoint({
    operationId: 'McpIntegrations_test',
    summary: 'Reach an MCP server and say what came of it',
    tag: 'MCP Integrations',
    method: 'post',
    path: '/mcp-integrations/{mcpIntegrationId}/test',
    access: { keys: anyKey, scopes: scopesTo('read') },
    audit: { resourceType: 'mcp_integrations', action: 'manage' },
    answer: mcpTest,
  }),
};
