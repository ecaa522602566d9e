import { z } from 'zod';
import { instantText, nameField, referenceField, slugField } from '../../fields/fields.ts';
import { isReservedSlug } from '../../root-paths.ts';
import { commaList, pageFromOneQuery, pageQuery } from '../kernel/paging.ts';
import { secretMapping } from '../models/secret-mappings.ts';

/**
 * What the registry of MCP servers and the registry of agents have in common:
 * integrations that are opened to workspaces, and servers made of them there.
 */

export const created = z.object({ id: z.uuid(), slug: z.string() });

export const succeeded = z.object({ success: z.boolean() });

const searchQuery = z.string().max(255).optional();

export const registryIntegrationsQuery = z
  .object({
    organisation_id: z.uuid().optional(),
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    workspace_id: referenceField.optional(),
    search: searchQuery,
  })
  .and(pageQuery({ default: 100, max: 1000 }));

/** What every integration shows of itself, whatever it leads to. */
export const registryIntegration = {
  id: z.uuid(),
  organisation_id: z.uuid(),
  workspace_id: z.string().nullable(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  owner_id: z.string(),
  status: z.string(),
  type: z.enum(['workspace', 'organisation']),
  url: z.string(),
  configurations: z.record(z.string(), z.unknown()),
  secret_mappings: z.array(secretMapping),
  created_at: instantText,
  last_updated_at: instantText,
};
export const shownGlobalAccess = z.record(z.string(), z.unknown()).nullable();

export const integrationWorkspacesQuery = z
  .object({ version: z.string().max(64).optional() })
  .and(pageQuery({ default: 1000, max: 1000 }));

const integrationWorkspace = z.object({
  id: z.string(),
  enabled: z.boolean(),
  status: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
});
export const integrationWorkspaces = z.object({
  data: z.array(integrationWorkspace),
  total: z.int(),
  global_workspace_access: shownGlobalAccess,
});
/** What is answered to who names no version. */
export const integrationWorkspacesUnversioned = z.object({
  workspaces: z.array(integrationWorkspace),
  global_workspace_access: shownGlobalAccess,
});

export const integrationWorkspacesBody = z.object({
  workspaces: z.array(z.object({ id: referenceField, enabled: z.boolean() })).max(1000),
  global_workspace_access: z.object({ enabled: z.boolean().optional() }).nullish(),
  override_existing_workspace_access: z.boolean().default(false),
});

export const registryServersQuery = z
  .object({
    workspace_id: referenceField.optional(),
    id: commaList(200).optional(),
    search: searchQuery,
  })
  .and(pageQuery({ default: 100, max: 100 }));

/** What may be said of a server later too. */
export const registryServerTexts = {
  name: nameField,
  description: z.string().max(500).nullish(),
};

export const createRegistryServer = {
  workspace_id: referenceField.nullish(),
  slug: slugField
    .min(3)
    .max(50)
    .refine((slug) => !isReservedSlug(slug), 'is taken by a path of the gateway')
    .optional(),
  ...registryServerTexts,
};

/** A change that changes nothing is a mistake of who sends it. */
export function someField<T extends z.ZodType<object>>(body: T) {
  return body.refine(
    (fields) => Object.values(fields).some((value) => value !== undefined),
    'needs at least one field',
  );
}

/** What every server shows of itself in a list. */
export const registryServer = {
  id: z.uuid(),
  organisation_id: z.string(),
  workspace_id: z.string().nullable(),
  workspace_name: z.string().nullable(),
  workspace_slug: z.string().nullable(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.string(),
  owner_id: z.string(),
  url: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
};

/** Names as the servers and agents give them: a resource may go by its URI. */
export const offerName = z.string().min(1).max(1024);

/** As a server shows what is off for its integration: sent back so, it says nothing of the server. */
export const ofServer = { integration_enabled: z.boolean().nullish() };

export const offersQuery = pageFromOneQuery({ default: 100, max: 500 });

export const offerCount = z.object({ total: z.int(), enabled: z.int() });

export const userAccessQuery = z
  .object({
    search: z
      .string()
      .max(255)
      .meta({ description: 'Only people with this text in their name or address.' })
      .optional(),
  })
  .and(pageFromOneQuery({ default: 100, max: 500 }));

export const userAccessItem = z.object({
  user_id: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  enabled: z.boolean(),
  has_override: z.boolean(),
});

const defaultUserAccess = z.enum(['allow', 'deny']);

export function userAccessList<T extends z.ZodType>(item: T) {
  return z.object({
    data: z.array(item),
    default_user_access: defaultUserAccess,
    total: z.int(),
    has_more: z.boolean(),
  });
}

/**
 * An `enabled` of null takes the exception back: the default counts for this user again. Who is shown without an
 * exception is none, unless `enabled` is another.
 */
export const userAccessBody = z.object({
  user_access: z
    .array(
      z.object({
        user_id: referenceField,
        enabled: z.boolean().nullable(),
        has_override: z.boolean().optional(),
      }),
    )
    .max(1000)
    .optional(),
  default_user_access: defaultUserAccess.optional(),
});
