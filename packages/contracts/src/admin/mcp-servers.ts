import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantField, instantText, nameField, referenceField, slugField } from './fields.ts';
import { pageFromOneQuery, pageQuery, queryInteger } from './paging.ts';

const mcpServerListItem = z.object({
  id: z.uuid(),
  organisation_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.string(),
  created_at: instantText,
  owner_id: z.string(),
  slug: z.string(),
  workspace_id: z.string().nullable(),
  mcp_integration_id: z.string(),
  mcp_integration_slug: z.string().nullable(),
  mcp_integration_url: z.string().nullable(),
  auth_type: z.string(),
  workspace_name: z.string().nullable(),
  workspace_slug: z.string().nullable(),
  url: z.string(),
});

const mcpServerListResponse = z.object({
  data: z.array(mcpServerListItem),
  total: z.int(),
});

const createMcpServerInput = z.object({
  workspace_id: referenceField.optional(),
  name: nameField,
  description: z.string().max(500).nullable().optional(),
  mcp_integration_id: referenceField,
  slug: slugField.optional(),
});

const mcpServerCreateResponse = z.object({
  id: z.uuid(),
  slug: z.string(),
});

const mcpServer = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  status: z.string(),
  description: z.string().nullable(),
  created_at: instantText,
  mcp_integration_id: z.string(),
  mcp_integration_details: z
    .object({
      id: z.string(),
      slug: z.string(),
      status: z.string(),
      configurations: z.record(z.string(), z.unknown()).nullable(),
      url: z.string(),
      transport: z.string(),
      auth_type: z.string(),
    })
    .nullable(),
  workspace_id: z.string().nullable(),
});

const updateMcpServerInput = z.object({
  name: nameField.optional(),
  description: z.string().max(500).nullable().optional(),
});

const mcpServerTestResponse = z.object({
  success: z.boolean(),
  status_code: z.int().nullable(),
  response_time_ms: z.int().nullable(),
  url: z.string().nullable(),
  server_name: z.string(),
  error: z.string().nullable(),
});

const mcpServerCapabilityItem = z.object({
  name: z.string(),
  type: z.enum(['tool', 'prompt', 'resource', 'resource_template']),
  title: z.string().nullable(),
  description: z.string().nullable(),
  icons: z.array(z.unknown()).nullable(),
  enabled: z.boolean(),
  integration_enabled: z.boolean().nullable(),
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

const mcpServerCapabilitiesCounts = z.object({
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

const mcpServerCapabilitiesListResponse = z.object({
  data: z.array(mcpServerCapabilityItem),
  counts: mcpServerCapabilitiesCounts,
  total: z.int(),
  has_more: z.boolean(),
});

const bulkUpdateMcpServerCapabilitiesInput = z.object({
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

const mcpServerCapabilitiesBulkUpdateResponse = z.object({
  success: z.boolean(),
});

const mcpServerUserAccessItem = z.object({
  user_id: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  enabled: z.boolean(),
  has_override: z.boolean(),
  connection_status: z.enum(['connected', 'not_connected']),
});

const mcpServerUserAccessListResponse = z.object({
  data: z.array(mcpServerUserAccessItem),
  default_user_access: z.enum(['allow', 'deny']),
  total: z.int(),
  has_more: z.boolean(),
});

const bulkUpdateMcpServerUserAccessInput = z.object({
  user_access: z
    .array(
      z.object({
        user_id: z.string(),
        enabled: z.boolean(),
      }),
    )
    .optional(),
  default_user_access: z.enum(['allow', 'deny']).optional(),
});

const mcpServerUserAccessBulkUpdateResponse = z.object({
  success: z.boolean(),
});

const mcpServerConnectionItem = z.object({
  user_id: z.uuid(),
  connected: z.boolean(),
  created_at: instantText,
  last_updated_at: instantText,
});

const mcpServerConnectionsListResponse = z.object({
  data: z.array(mcpServerConnectionItem),
  total: z.int(),
  has_more: z.boolean(),
});

const mcpServerConnectionDeleteResponse = z.object({
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

const mcpRegistryPage = z.object({
  servers: z.array(
    z.object({
      server: z.object({
        $schema: z.string(),
        name: z.string(),
        title: z.string(),
        description: z.string(),
        version: z.string(),
        websiteUrl: z.string(),
        icons: z.array(z.record(z.string(), z.unknown())),
        remotes: z.array(
          z.object({
            type: z.literal('streamable-http'),
            url: z.string(),
          }),
        ),
      }),
      _meta: z.record(z.string(), z.unknown()),
    }),
  ),
  metadata: z.object({
    count: z.int(),
    nextCursor: z.string(),
  }),
});

export const mcpServersEndpoints = {
  'mcp-servers.list': endpoint({
    operationId: 'McpServers_list',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers',
    query: z
      .object({
        workspace_id: referenceField.optional(),
        id: z.string().optional(),
        search: z.string().max(255).optional(),
      })
      .and(pageQuery({ default: 100, max: 100 })),
    answer: mcpServerListResponse,
  }),
  'mcp-servers.create': endpoint({
    operationId: 'McpServers_create',
    tag: 'MCP Servers',
    method: 'post',
    path: '/mcp-servers',
    body: createMcpServerInput,
    answer: mcpServerCreateResponse,
  }),
  'mcp-servers.read': endpoint({
    operationId: 'McpServers_retrieve',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}',
    answer: mcpServer,
  }),
  'mcp-servers.update': endpoint({
    operationId: 'McpServers_update',
    tag: 'MCP Servers',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}',
    body: updateMcpServerInput.prefault({}),
    answer: nothing,
  }),
  'mcp-servers.delete': endpoint({
    operationId: 'McpServers_delete',
    tag: 'MCP Servers',
    method: 'delete',
    path: '/mcp-servers/{mcpServerId}',
    answer: nothing,
  }),
  'mcp-servers.test': endpoint({
    operationId: 'McpServers_test',
    tag: 'MCP Servers',
    method: 'post',
    path: '/mcp-servers/{mcpServerId}/test',
    answer: mcpServerTestResponse,
  }),
  'mcp-servers.capabilities.list': endpoint({
    operationId: 'McpServerCapabilities_list',
    tag: 'MCP Servers > Capabilities',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/capabilities',
    query: z
      .object({
        type: z.enum(['tool', 'prompt', 'resource', 'resource_template']).optional(),
      })
      .and(pageFromOneQuery({ default: 100, max: 500 })),
    answer: mcpServerCapabilitiesListResponse,
  }),
  'mcp-servers.capabilities.update': endpoint({
    operationId: 'McpServerCapabilities_bulkUpdate',
    tag: 'MCP Servers > Capabilities',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}/capabilities',
    body: bulkUpdateMcpServerCapabilitiesInput,
    answer: mcpServerCapabilitiesBulkUpdateResponse,
  }),
  'mcp-servers.user-access.list': endpoint({
    operationId: 'McpServerUserAccess_list',
    tag: 'MCP Servers > User Access',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/user-access',
    query: z
      .object({
        search: z.string().optional(),
      })
      .and(pageFromOneQuery({ default: 100, max: 500 })),
    answer: mcpServerUserAccessListResponse,
  }),
  'mcp-servers.user-access.update': endpoint({
    operationId: 'McpServerUserAccess_bulkUpdate',
    tag: 'MCP Servers > User Access',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}/user-access',
    body: bulkUpdateMcpServerUserAccessInput.prefault({}),
    answer: mcpServerUserAccessBulkUpdateResponse,
  }),
  'mcp-servers.connections.list': endpoint({
    operationId: 'McpServerConnections_list',
    tag: 'MCP Servers > Connections',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/connections',
    query: z
      .object({
        user_id: z.string().optional(),
        workspace_id: referenceField.optional(),
      })
      .and(pageQuery({ default: 100, max: 500 })),
    answer: mcpServerConnectionsListResponse,
  }),
  'mcp-servers.connections.delete': endpoint({
    operationId: 'McpServerConnections_delete',
    tag: 'MCP Servers > Connections',
    method: 'delete',
    path: '/mcp-servers/{mcpServerId}/connections',
    query: z.object({
      user_id: z.uuid().optional(),
      workspace_id: referenceField.optional(),
    }),
    answer: mcpServerConnectionDeleteResponse,
  }),
  'mcp-servers.metadata.read': endpoint({
    operationId: 'McpServerMetadata_retrieve',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/metadata',
    answer: mcpIntegrationMetadata,
  }),
  'mcp-registry.list': endpoint({
    operationId: 'listMcpRegistry',
    tag: 'MCP Registry',
    method: 'get',
    path: '/v0.1/servers',
    atRoot: true,
    plane: 'data',
    query: z.object({
      limit: queryInteger(1, 100).default(50),
      cursor: z.string().optional(),
      search: z.string().optional(),
      updated_since: instantField.optional(),
      workspace_id: referenceField.optional(),
    }),
    answer: mcpRegistryPage,
    errors: [400, 401, 403, 404],
  }),
};
