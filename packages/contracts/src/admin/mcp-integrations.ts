import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText, nameField, referenceField, slugField } from './fields.ts';
import { pageFromOneQuery, pageQuery } from './paging.ts';

const secretMapping = z.object({
  target_field: z.string(),
  secret_reference_id: z.string(),
  secret_key: z.string().nullable(),
  value_format: z.enum(['json', 'string']).nullable(),
});

const mcpIntegrationListItem = z.object({
  id: z.uuid(),
  name: z.string(),
  owner_id: z.string(),
  status: z.string(),
  type: z.enum(['workspace', 'organisation']),
  url: z.string(),
  auth_type: z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']),
  transport: z.enum(['http', 'sse', 'interactive']),
  configurations: z.record(z.string(), z.unknown()),
  created_at: instantText,
  last_updated_at: instantText,
  slug: z.string(),
  workspace_id: z.string().nullable(),
  description: z.string().nullable(),
  workspaces_count: z.number().nullable(),
  secret_mappings: z.array(secretMapping),
});

const mcpIntegrationListResponse = z.object({
  data: z.array(mcpIntegrationListItem),
  total: z.int(),
  has_more: z.boolean(),
});

const secretMappingInput = z.object({
  target_field: z.string(),
  secret_reference_id: referenceField,
  secret_key: z.string().nullable().optional(),
  value_format: z.enum(['json', 'string']).nullable().optional(),
});

const createMcpIntegrationInput = z.object({
  organisation_id: z.uuid().optional(),
  workspace_id: referenceField.optional(),
  slug: slugField.optional(),
  name: nameField,
  description: z.string().nullable().optional(),
  configurations: z
    .looseObject({
      custom_headers: z.record(z.string(), z.unknown()).optional(),
      passthrough_header: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  url: z.string(),
  auth_type: z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']),
  transport: z.enum(['http', 'sse']),
  secret_mappings: z.array(secretMappingInput).optional(),
});

const mcpIntegrationCreateResponse = z.object({
  id: z.uuid(),
  slug: z.string(),
});

const mcpIntegration = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  owner_id: z.string(),
  status: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
  configurations: z.record(z.string(), z.unknown()).nullable(),
  global_workspace_access: z.record(z.string(), z.unknown()).nullable(),
  workspace_id: z.string().nullable(),
  slug: z.string(),
  url: z.string(),
  auth_type: z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']),
  transport: z.enum(['http', 'sse', 'interactive']),
  type: z.enum(['workspace', 'organisation']),
  secret_mappings: z.array(secretMapping),
});

const updateMcpIntegrationInput = z.object({
  name: nameField.optional(),
  description: z.string().nullable().optional(),
  configurations: z
    .looseObject({
      custom_headers: z.record(z.string(), z.unknown()).optional(),
      passthrough_header: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  url: z.string().optional(),
  auth_type: z.enum(['oauth_auto', 'oauth_client_credentials', 'headers', 'none']).optional(),
  transport: z.enum(['http', 'sse']).optional(),
  secret_mappings: z.array(secretMappingInput).optional(),
});

const mcpIntegrationWorkspaceItem = z.object({
  id: z.string(),
  enabled: z.boolean(),
  status: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
});

const mcpIntegrationWorkspacesListResponse = z.object({
  data: z.array(mcpIntegrationWorkspaceItem),
  global_workspace_access: z.record(z.string(), z.unknown()).nullable(),
  total: z.int(),
});

const mcpIntegrationWorkspacesLegacyResponse = z.object({
  workspaces: z.array(mcpIntegrationWorkspaceItem),
  global_workspace_access: z.record(z.string(), z.unknown()).nullable(),
});

const bulkUpdateMcpIntegrationWorkspacesInput = z.object({
  workspaces: z
    .array(
      z.object({
        id: z.string(),
        enabled: z.boolean(),
      }),
    )
    .min(0),
  global_workspace_access: z
    .object({
      enabled: z.boolean().optional(),
    })
    .nullable()
    .optional(),
  override_existing_workspace_access: z.boolean().default(false),
});

const mcpIntegrationCapabilityItem = z.object({
  name: z.string(),
  type: z.enum(['tool', 'prompt', 'resource', 'resource_template']),
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
});

const mcpIntegrationCapabilitiesCounts = z.object({
  tools: z.object({
    total: z.int(),
    enabled: z.int(),
  }),
  prompts: z.object({
    total: z.int(),
    enabled: z.int(),
  }),
  resources: z.object({
    total: z.int(),
    enabled: z.int(),
  }),
  resource_templates: z.object({
    total: z.int(),
    enabled: z.int(),
  }),
});

const mcpIntegrationCapabilitiesListResponse = z.object({
  data: z.array(mcpIntegrationCapabilityItem),
  counts: mcpIntegrationCapabilitiesCounts,
  total: z.int(),
  has_more: z.boolean(),
});

const bulkUpdateMcpIntegrationCapabilitiesInput = z.object({
  capabilities: z
    .array(
      z.object({
        name: nameField,
        type: z.enum(['tool', 'prompt', 'resource']),
        enabled: z.boolean(),
      }),
    )
    .min(1),
});

const mcpIntegrationCapabilitiesBulkUpdateResponse = z.object({
  success: z.boolean(),
});

const mcpIntegrationMetadata = z.object({
  server_name: z.string().nullable(),
  server_version: z.string().nullable(),
  protocol_version: z.string().nullable(),
  capability_flags: z.record(z.string(), z.unknown()).nullable(),
  sync_status: z.string().nullable(),
  last_synced_at: instantText.nullable(),
  sync_error: z.string().nullable(),
});

const mcpServerTestResponse = z.object({
  success: z.boolean(),
  status_code: z.int().nullable(),
  response_time_ms: z.int().nullable(),
  url: z.string().nullable(),
  server_name: z.string(),
  error: z.string().nullable(),
});

export const mcpIntegrationsEndpoints = {
  'mcp-integrations.list': endpoint({
    operationId: 'McpIntegrations_list',
    tag: 'MCP Integrations',
    method: 'get',
    path: '/mcp-integrations',
    query: z
      .object({
        organisation_id: z.uuid().optional(),
        type: z.enum(['workspace', 'organisation', 'all']).optional(),
        workspace_id: referenceField.optional(),
        search: z.string().optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: mcpIntegrationListResponse,
  }),
  'mcp-integrations.create': endpoint({
    operationId: 'McpIntegrations_create',
    tag: 'MCP Integrations',
    method: 'post',
    path: '/mcp-integrations',
    body: createMcpIntegrationInput,
    answer: mcpIntegrationCreateResponse,
  }),
  'mcp-integrations.read': endpoint({
    operationId: 'McpIntegrations_retrieve',
    tag: 'MCP Integrations',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}',
    answer: mcpIntegration,
  }),
  'mcp-integrations.update': endpoint({
    operationId: 'McpIntegrations_update',
    tag: 'MCP Integrations',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}',
    body: updateMcpIntegrationInput.prefault({}),
    answer: nothing,
  }),
  'mcp-integrations.delete': endpoint({
    operationId: 'McpIntegrations_delete',
    tag: 'MCP Integrations',
    method: 'delete',
    path: '/mcp-integrations/{mcpIntegrationId}',
    answer: nothing,
  }),
  'mcp-integrations.workspaces.list': endpoint({
    operationId: 'McpIntegrationWorkspaces_list',
    tag: 'MCP Integrations > Workspaces',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/workspaces',
    query: z.object({
      version: z.string().optional(),
    }),
    answer: z.union([mcpIntegrationWorkspacesListResponse, mcpIntegrationWorkspacesLegacyResponse]),
  }),
  'mcp-integrations.workspaces.update': endpoint({
    operationId: 'McpIntegrationWorkspaces_bulkUpdate',
    tag: 'MCP Integrations > Workspaces',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}/workspaces',
    body: bulkUpdateMcpIntegrationWorkspacesInput,
    answer: nothing,
  }),
  'mcp-integrations.capabilities.list': endpoint({
    operationId: 'McpIntegrationCapabilities_list',
    tag: 'MCP Integrations > Capabilities',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/capabilities',
    query: z
      .object({
        type: z.enum(['tool', 'prompt', 'resource', 'resource_template']).optional(),
      })
      .and(pageFromOneQuery({ default: 100, max: 500 })),
    answer: mcpIntegrationCapabilitiesListResponse,
  }),
  'mcp-integrations.capabilities.update': endpoint({
    operationId: 'McpIntegrationCapabilities_bulkUpdate',
    tag: 'MCP Integrations > Capabilities',
    method: 'put',
    path: '/mcp-integrations/{mcpIntegrationId}/capabilities',
    body: bulkUpdateMcpIntegrationCapabilitiesInput,
    answer: mcpIntegrationCapabilitiesBulkUpdateResponse,
  }),
  'mcp-integrations.metadata.read': endpoint({
    operationId: 'McpIntegrationMetadata_retrieve',
    tag: 'MCP Integrations > Metadata',
    method: 'get',
    path: '/mcp-integrations/{mcpIntegrationId}/metadata',
    answer: mcpIntegrationMetadata,
  }),
  'mcp-integrations.test': endpoint({
    operationId: 'McpIntegrations_test',
    tag: 'MCP Integrations',
    method: 'post',
    path: '/mcp-integrations/{mcpIntegrationId}/test',
    answer: mcpServerTestResponse,
  }),
};
