import { z } from 'zod';
import {
  flagField,
  instantText,
  nameField,
  slugField,
  workspaceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { cappedListQuery, queryFlag } from '../kernel/paging.ts';

/** The document itself is checked by `parseConfigDocument`; here it only has to be an object, or one as text. */
export const configDocument = z.union(
  [
    z.record(z.string(), z.unknown()),
    z.string().transform((text, context): Record<string, unknown> => {
      try {
        const value: unknown = JSON.parse(text);
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          return value as Record<string, unknown>;
      } catch {
        // Reported below, together with what is JSON but not an object.
      }
      context.issues.push({ code: 'custom', message: 'must be a JSON object', input: text });
      return z.NEVER;
    }),
  ],
  'must be a JSON object, or one as text',
);

const createConfigBody = z.object({
  name: nameField,
  slug: slugField.optional(),
  config: configDocument,
  workspace_id: workspaceField.nullish(),
  isDefault: flagField.optional(),
  is_default: flagField.optional(),
});

const updateConfigBody = z.object({
  name: nameField.optional(),
  config: configDocument.optional(),
  status: z.enum(['active', 'archived']).optional(),
  isDefault: flagField.optional(),
  is_default: flagField.optional(),
});

/** How an organisation key says which workspace it means. */
export const workspaceQuery = z.object({ workspace_id: workspaceField.optional() });

/** Ours: what is named need not be there yet. */
const saveQuery = workspaceQuery.extend({ allow_missing: queryFlag.default(false) });
/** Ours: what is removed may be in use. */
export const removeQuery = workspaceQuery.extend({ force: queryFlag.default(false) });

const config = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    organisation_id: z.uuid(),
    workspace_id: z.uuid(),
    is_default: z.int(),
    status: z.string(),
    owner_id: z.uuid(),
    updated_by: z.uuid(),
    created_at: instantText,
    last_updated_at: instantText,
  })
  .register(shapeNames, { name: 'ConfigSummary' });

/** The document is an object here; its credentials are masked. */
const configDetail = config
  .extend({
    version_id: z.uuid(),
    config: z.record(z.string(), z.unknown()),
  })
  .register(shapeNames, { name: 'Config' });

/** The document is text here. */
const configVersion = config
  .extend({
    config: z.string(),
    format: z.literal('json'),
    type: z.literal('ORG_CONFIG'),
    version_id: z.uuid(),
    version: z.int(),
    object: z.literal('config'),
  })
  .register(shapeNames, { name: 'ConfigVersion' });

const success = <T extends z.ZodType>(data: T) => z.object({ success: z.literal(true), data });

export const configsEndpoints = {
  'configs.list': endpoint({
    operationId: 'listConfigs',
    summary: 'List configs',
    tag: 'Configs',
    method: 'get',
    path: '/configs',
    access: { keys: anyKey, scopes: ['configs.list'] },
    query: cappedListQuery.and(workspaceQuery),
    answer: success(z.array(config)),
  }),
  'configs.create': endpoint({
    operationId: 'createConfig',
    summary: 'Save a config: how requests are routed, retried and cached',
    tag: 'Configs',
    method: 'post',
    path: '/configs',
    access: { keys: anyKey, scopes: ['configs.create'] },
    audit: { resourceType: 'configs', action: 'create' },
    query: saveQuery,
    body: createConfigBody,
    answer: success(z.object({ id: z.uuid(), slug: z.string(), version_id: z.uuid() })),
  }),
  'configs.read': endpoint({
    operationId: 'getConfig',
    summary: 'Show one config in its latest version',
    tag: 'Configs',
    method: 'get',
    path: '/configs/{slug}',
    access: { keys: anyKey, scopes: ['configs.read'] },
    query: workspaceQuery,
    answer: success(configDetail),
  }),
  'configs.update': endpoint({
    operationId: 'updateConfig',
    summary: 'Change a config, which makes a new version',
    tag: 'Configs',
    method: 'put',
    path: '/configs/{slug}',
    access: { keys: anyKey, scopes: ['configs.update'] },
    audit: { resourceType: 'configs', action: 'update' },
    query: saveQuery,
    body: updateConfigBody,
    answer: success(z.object({ version_id: z.uuid() })),
  }),
  'configs.delete': endpoint({
    operationId: 'deleteConfig',
    summary: 'Delete a config',
    tag: 'Configs',
    method: 'delete',
    path: '/configs/{slug}',
    access: { keys: anyKey, scopes: ['configs.delete'] },
    audit: { resourceType: 'configs', action: 'delete' },
    query: workspaceQuery,
    answer: nothing,
  }),
  'configs.versions': endpoint({
    operationId: 'listConfigVersions',
    summary: 'List the versions of a config',
    tag: 'Configs',
    method: 'get',
    path: '/configs/{slug}/versions',
    access: { keys: anyKey, scopes: ['configs.read'] },
    query: cappedListQuery.and(workspaceQuery),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(configVersion),
    }),
  }),
};
