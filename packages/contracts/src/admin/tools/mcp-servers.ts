import { z } from 'zod';
import { instantText, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { toolPolicy } from '../../tool-policy.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import {
  capabilityType,
  mcpCapabilities,
  mcpCapabilitiesQuery,
  mcpCapability,
  mcpMetadata,
  mcpTest,
} from './mcp-integrations.ts';
import {
  created,
  createRegistryServer,
  offerName,
  ofServer,
  registryServer,
  registryServersQuery,
  registryServerTexts,
  someField,
  succeeded,
  userAccessBody,
  userAccessItem,
  userAccessList,
  userAccessQuery,
} from './registry.ts';

/** What servers have of ours, beside what is published. */
const mergedServer = {
  members: z.array(z.object({ server_id: z.string(), tools: z.array(z.string()) })),
  prefix: z.enum(['always', 'on_collision', 'never']),
  exposure: z.enum(['all', 'search']),
  policy: z.record(z.string(), z.unknown()),
};

const mcpServer = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    status: z.string(),
    description: z.string().nullable(),
    created_at: instantText,
    last_updated_at: instantText,
    url: z.string(),
    mcp_integration_id: z.string().nullable(),
    ...mergedServer,
    // Both are told to service keys only.
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
  })
  .register(shapeNames, { name: 'McpServer' });

const mcpServerListItem = z
  .object({
    ...registryServer,
    mcp_integration_id: z.string().nullable(),
    mcp_integration_slug: z.string().nullable(),
    mcp_integration_url: z.string().nullable(),
    auth_type: z.string().nullable(),
    ...mergedServer,
  })
  .register(shapeNames, { name: 'McpServerSummary' });

const members = z
  .array(
    z.strictObject({ server_id: referenceField, tools: z.array(offerName).max(1000).optional() }),
  )
  .max(20);

const ownSettings = {
  prefix: mergedServer.prefix.optional(),
  exposure: mergedServer.exposure.optional(),
  policy: toolPolicy.nullish(),
};

/** Made of an integration, or of other servers of its workspace. */
const createMcpServer = z
  .object({
    ...createRegistryServer,
    mcp_integration_id: referenceField.optional(),
    members: members.min(1).optional(),
    ...ownSettings,
  })
  .superRefine(({ mcp_integration_id, members }, context) => {
    if ((mcp_integration_id === undefined) === (members === undefined))
      context.addIssue({
        code: 'custom',
        path: ['mcp_integration_id'],
        message: 'is required, or members in its place',
      });
  });

/** A server that is made of an integration shows no members and the usual prefix, which may be sent back. */
const updateMcpServer = someField(
  z.object({ ...registryServerTexts, members, ...ownSettings }).partial(),
);

/** What callers call it: what models take for the name of a tool. */
const shownName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'may hold 64 letters, digits, "-" and "_"');
const argumentName = z.string().min(1).max(128);

/** What the server's callers are shown in place of what the upstream says; null takes it back. */
const shownAs = {
  renamed_to: shownName.nullish(),
  described_as: z.string().max(16_384).nullish(),
  fixed_arguments: z
    .record(argumentName, z.unknown())
    .refine((values) => Object.keys(values).length <= 100, 'may hold 100 entries at most')
    .refine(
      (values) => JSON.stringify(values).length <= 16_384,
      'may take 16384 characters as JSON at most',
    )
    .nullish(),
  hidden_arguments: z.array(argumentName).max(100).nullish(),
};

const mcpServerCapabilitiesBody = z.object({
  capabilities: z
    .array(
      z.object({
        name: offerName,
        type: capabilityType,
        enabled: z.boolean(),
        ...ofServer,
        ...shownAs,
      }),
    )
    .max(1000),
});

/** `enabled` is what counts: both levels have to say yes. Service keys are told what the integration says. */
const mcpServerCapability = mcpCapability
  .extend({
    integration_enabled: z.boolean().nullable(),
    renamed_to: z.string().nullable(),
    described_as: z.string().nullable(),
    fixed_arguments: z.record(z.string(), z.unknown()).nullable(),
    hidden_arguments: z.array(z.string()).nullable(),
  })
  .register(shapeNames, { name: 'McpServerCapability' });

const connection = z
  .object({
    user_id: z.uuid(),
    connected: z.boolean(),
    created_at: instantText,
    last_updated_at: instantText,
  })
  .register(shapeNames, { name: 'McpConnection' });

export const mcpServersEndpoints = {
  'mcp-servers.list': endpoint({
    operationId: 'McpServers_list',
    summary: 'List the MCP servers of a workspace',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers',
    access: { keys: anyKey, scopes: ['mcp_servers.list'] },
    query: registryServersQuery,
    answer: z.object({ data: z.array(mcpServerListItem), total: z.int() }),
  }),
  'mcp-servers.create': endpoint({
    operationId: 'McpServers_create',
    summary: 'Open an MCP server to callers of a workspace',
    tag: 'MCP Servers',
    method: 'post',
    path: '/mcp-servers',
    access: { keys: anyKey, scopes: ['mcp_servers.create'] },
    audit: { resourceType: 'mcp_servers', action: 'create' },
    body: createMcpServer,
    answer: created,
  }),
  'mcp-servers.read': endpoint({
    operationId: 'McpServers_retrieve',
    summary: 'Show one MCP server of a workspace',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}',
    access: { keys: anyKey, scopes: ['mcp_servers.read'] },
    answer: mcpServer,
  }),
  'mcp-servers.update': endpoint({
    operationId: 'McpServers_update',
    summary: 'Change an MCP server of a workspace',
    tag: 'MCP Servers',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}',
    access: { keys: anyKey, scopes: ['mcp_servers.update'] },
    audit: { resourceType: 'mcp_servers', action: 'update' },
    body: updateMcpServer.prefault({}),
    answer: nothing,
  }),
  'mcp-servers.delete': endpoint({
    operationId: 'McpServers_delete',
    summary: 'Close an MCP server of a workspace',
    tag: 'MCP Servers',
    method: 'delete',
    path: '/mcp-servers/{mcpServerId}',
    access: { keys: anyKey, scopes: ['mcp_servers.delete'] },
    audit: { resourceType: 'mcp_servers', action: 'delete' },
    answer: nothing,
  }),
  'mcp-servers.test': endpoint({
    operationId: 'McpServers_test',
    summary: 'Reach an MCP server of a workspace and say what came of it',
    tag: 'MCP Servers',
    method: 'post',
    path: '/mcp-servers/{mcpServerId}/test',
    access: { keys: anyKey, scopes: ['mcp_servers.read'] },
    audit: { resourceType: 'mcp_servers', action: 'manage' },
    answer: mcpTest,
  }),
  'mcp-servers.capabilities.list': endpoint({
    operationId: 'McpServerCapabilities_list',
    summary: 'List what an MCP server offers in a workspace',
    tag: 'MCP Servers > Capabilities',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/capabilities',
    access: { keys: anyKey, scopes: ['mcp_servers.read'] },
    query: mcpCapabilitiesQuery,
    answer: mcpCapabilities(mcpServerCapability),
  }),
  'mcp-servers.capabilities.update': endpoint({
    operationId: 'McpServerCapabilities_bulkUpdate',
    summary: 'Switch what an MCP server offers in a workspace on or off',
    tag: 'MCP Servers > Capabilities',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}/capabilities',
    access: { keys: anyKey, scopes: ['mcp_servers.update'] },
    audit: { resourceType: 'mcp_servers', action: 'update' },
    body: mcpServerCapabilitiesBody,
    listName: 'capabilities',
    answer: succeeded,
  }),
  'mcp-servers.user-access.list': endpoint({
    operationId: 'McpServerUserAccess_list',
    summary: 'List who may call an MCP server',
    tag: 'MCP Servers > User Access',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/user-access',
    access: { keys: anyKey, scopes: ['mcp_servers.read'] },
    query: userAccessQuery,
    answer: userAccessList(
      userAccessItem.extend({ connection_status: z.enum(['connected', 'not_connected']) }),
    ),
  }),
  'mcp-servers.user-access.update': endpoint({
    operationId: 'McpServerUserAccess_bulkUpdate',
    summary: 'Set who may call an MCP server',
    tag: 'MCP Servers > User Access',
    method: 'put',
    path: '/mcp-servers/{mcpServerId}/user-access',
    access: { keys: anyKey, scopes: ['mcp_servers.update'] },
    audit: { resourceType: 'mcp_servers', action: 'update' },
    body: userAccessBody.prefault({}),
    listName: 'user_access',
    answer: succeeded,
  }),
  'mcp-servers.connections.list': endpoint({
    operationId: 'McpServerConnections_list',
    summary: 'List who has signed in at an MCP server',
    tag: 'MCP Servers > Connections',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/connections',
    access: { keys: anyKey, scopes: ['mcp_servers.read', 'mcp.invoke'] },
    query: z
      .object({ user_id: z.uuid().optional(), workspace_id: referenceField.optional() })
      .and(pageQuery({ default: 100, max: 500 })),
    answer: z.object({ data: z.array(connection), total: z.int(), has_more: z.boolean() }),
  }),
  'mcp-servers.connections.delete': endpoint({
    operationId: 'McpServerConnections_delete',
    summary: 'Sign a user out of an MCP server',
    tag: 'MCP Servers > Connections',
    method: 'delete',
    path: '/mcp-servers/{mcpServerId}/connections',
    access: { keys: anyKey, scopes: ['mcp_servers.update', 'mcp.invoke'] },
    audit: { resourceType: 'mcp_servers', action: 'manage' },
    query: z.object({
      user_id: z.uuid().optional(),
      workspace_id: referenceField.optional(),
    }),
    answer: succeeded,
  }),
  'mcp-servers.metadata.read': endpoint({
    operationId: 'McpServerMetadata_retrieve',
    summary: 'Show what an MCP server of a workspace tells of itself',
    tag: 'MCP Servers',
    method: 'get',
    path: '/mcp-servers/{mcpServerId}/metadata',
    access: { keys: anyKey, scopes: ['mcp_servers.read'] },
    answer: mcpMetadata,
  }),
};
