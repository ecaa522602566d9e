import { z } from 'zod';
import { instantField, instantText, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { queryInteger } from '../kernel/paging.ts';

/** A server in the format of the community's registry. */
const registryEntry = z
  .object({
    server: z.object({
      $schema: z.string(),
      name: z.string(),
      title: z.string(),
      description: z.string(),
      version: z.string(),
      websiteUrl: z.string().optional(),
      icons: z.array(z.record(z.string(), z.unknown())).optional(),
      remotes: z
        .array(z.object({ type: z.literal('streamable-http'), url: z.string() }))
        .optional(),
    }),
    _meta: z.record(
      z.string(),
      z.object({
        status: z.literal('active'),
        publishedAt: instantText,
        updatedAt: instantText,
        isLatest: z.literal(true),
      }),
    ),
  })
  .register(shapeNames, { name: 'McpRegistryEntry' });

export const mcpRegistryEndpoints = {
  'mcp-registry.list': endpoint({
    operationId: 'listMcpRegistry',
    summary: 'List MCP servers as the community’s registry does',
    tag: 'MCP Registry',
    method: 'get',
    path: '/v0.1/servers',
    atRoot: true,
    plane: 'data',
    access: { keys: anyKey, scopes: ['mcp_servers.list'], keyHeaderOnly: true },
    query: z.object({
      limit: queryInteger(1, 100).default(50),
      cursor: z.string().max(512).optional(),
      search: z.string().max(255).optional(),
      updated_since: instantField.optional(),
      workspace_id: referenceField.optional(),
    }),
    answer: z.object({
      servers: z.array(registryEntry),
      // `nextCursor` is absent on the last page.
      metadata: z.object({ count: z.int(), nextCursor: z.string().optional() }),
    }),
    errors: [400, 401, 403, 404],
  }),
};
