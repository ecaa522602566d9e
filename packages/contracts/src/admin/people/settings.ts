import { z } from 'zod';
import { instantText } from '../../fields/fields.ts';
import { keptOnly } from '../../fields/kept-only.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { exportFieldName } from '../ledger/log-exports.ts';
import { metadataSchema } from './metadata-schema.ts';

/**
 * What an organisation decides about its people and its data, section by
 * section, with what holds until it decides otherwise. A workspace may decide
 * differently in the sections that the organisation opened to it.
 */
const flag = (byDefault: boolean) => z.boolean().default(byDefault);
const amount = (min: number, max: number) => z.int().min(min).max(max).nullable().default(null);

const yearSeconds = 366 * 86_400;

/** Sections that a workspace may override, if its organisation lets it. */
export const sharedSections = {
  /** Owners and admins are never limited, but for the two switches named after them. */
  logs: z.object({
    managersViewLogs: flag(true),
    managersViewLogMetadata: flag(true),
    membersViewLogs: flag(true),
    membersViewLogMetadata: flag(true),
    organisationAdminsViewLogs: flag(true),
    organisationAdminsViewLogMetadata: flag(true),
  }),
  analytics: z.object({ managersViewAnalytics: flag(true), membersViewAnalytics: flag(true) }),
  /** Off = only what the caller's own keys did. */
  data_visibility: z.object({ managersViewAllData: flag(true), membersViewAllData: flag(true) }),
  prompts: z.object({
    managersViewPrompts: flag(true),
    managersWritePrompts: flag(true),
    membersViewPrompts: flag(true),
    membersWritePrompts: flag(false),
  }),
  guardrails: z.object({
    managersViewGuardrails: flag(true),
    managersWriteGuardrails: flag(true),
    membersViewGuardrails: flag(true),
  }),
  configs: z.object({
    managersViewConfigs: flag(true),
    managersWriteConfigs: flag(true),
    membersViewConfigs: flag(true),
    membersWriteConfigs: flag(false),
  }),
  providers: z.object({
    managersViewProviders: flag(true),
    managersManageProviders: flag(true),
    membersViewProviders: flag(true),
  }),
  integrations: z.object({
    managersWriteWsIntegrations: flag(true),
    managersWriteWsMcpIntegrations: flag(true),
    managersWriteMcpServers: flag(true),
  }),
  /** For members: their own user keys only. */
  keys: z.object({
    managersViewKeys: flag(true),
    managersManageKeys: flag(true),
    membersViewKeys: flag(true),
    membersManageKeys: flag(false),
  }),
  /** Times in seconds, the rotation period in days; null = no rule. */
  user_keys: z.object({
    user_api_key_auto_create: flag(false),
    user_api_key_ttl: amount(3600, 10 * yearSeconds),
    user_api_key_max_ttl: amount(3600, 10 * yearSeconds),
    max_user_api_keys_per_user: amount(1, 100_000),
    max_user_api_keys_per_workspace: amount(1, 1_000_000),
    user_api_key_rotation_period: amount(1, 365),
  }),
  /** What managers may do to the workspace itself: its name, budgets, rate limits, settings. */
  workspace_management: z.object({ managersManageWorkspace: flag(false) }),
  data_plane_security_settings: z.object({ block_inline_config: flag(false) }),
  request_logging: z.object({
    mode: z.enum(['full', 'metrics']).default('full'),
    enforced: flag(false),
  }),
  export_settings: z.object({
    deniedFields: z.array(exportFieldName).max(200).default([]),
  }),
  session_settings: z.object({
    max_session_ttl: keptOnly(
      z.int().min(900).max(yearSeconds).nullable(),
      'there are no sessions of people here that it could end',
    ).default(null),
  }),
} as const;

/** Sections that mean something for the organisation only. */
const organisationSections = {
  /** What is asked of the metadata of keys and workspaces; null = anything goes. */
  metadata_schemas: z.object({
    api_keys: metadataSchema.nullable().default(null),
    workspaces: metadataSchema.nullable().default(null),
  }),
  /** On = a request may have any stored credential sent to any host: whoever holds a workspace key can read them all. */
  stored_credentials: z.object({ allow_any_custom_host: flag(false) }),
  /** Bodies of requests are erased when they are older, and logs when they are older than 35 days as well. */
  retention: z.object({
    logs_days: z.int().min(1).max(3650).default(90),
    figures_days: z.int().min(35).max(3650).default(365),
  }),
  /** Seconds for which answers are kept where a config does not say, and the most that one may say; null = no rule. */
  caching: z.object({ max_age: amount(60, 25_923_000) }),
  joining: z.object({
    /** The default workspace has a switch of its own. */
    default_workspace_user_api_key_auto_create: flag(false),
    invite_ttl: z
      .int()
      .min(3600)
      .max(yearSeconds)
      .default(7 * 86_400),
  }),
} as const;

const allSections = { ...sharedSections, ...organisationSections };

type Sections = typeof allSections;
export type SettingsSection = keyof Sections;
export type SharedSection = keyof typeof sharedSections;
export const sharedSectionNames = Object.keys(sharedSections) as readonly SharedSection[];

/** Every setting with its value. */
export type Settings = { readonly [S in SettingsSection]: z.output<Sections[S]> };

/** What holds where nobody decided. */
export const defaultSettings = Object.fromEntries(
  Object.entries(allSections).map(([name, section]) => [name, section.parse({})]),
) as Settings;

/** As sent to change settings: what is left out stays, null goes back to the default. */
export type SettingsChange = {
  readonly [S in SettingsSection]?:
    | { readonly [K in keyof Settings[S]]?: Settings[S][K] | null }
    | null;
};

/** Any section may be sent for a workspace too: those that are not open to it are refused by name. */
export const changeSettingsBody = z.object(
  Object.fromEntries(
    Object.entries<z.ZodObject>(allSections).map(([name, section]) => [
      name,
      z.object(withoutDefaults(section.shape)).nullish(),
    ]),
  ),
) as unknown as z.ZodType<SettingsChange>;

/** Every field of a section has a default, and none of them is a change. */
function withoutDefaults(shape: z.ZodRawShape) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [
      name,
      z.nullish((field as z.ZodDefault<z.ZodType>).unwrap()),
    ]),
  );
}

const switches = Object.fromEntries(
  sharedSectionNames.map((name) => [name, z.boolean()]),
) as Record<SharedSection, z.ZodBoolean>;

export const changeOrganisationSettingsBody = changeSettingsBody.and(
  z.object({
    /** The sections that workspaces may decide for themselves. */
    workspace_overrides: z.object(switches).partial().optional(),
  }),
);

export const organisationSettingsAnswer = z
  .object({
    object: z.literal('organisation-settings'),
    ...allSections,
    workspace_overrides: z.object(switches),
  })
  .register(shapeNames, { name: 'OrganisationSettings' });

/** What holds in the workspace, and what of it the workspace decided itself. */
export const workspaceSettingsAnswer = z
  .object({
    object: z.literal('workspace-settings'),
    workspace_id: z.uuid(),
    ...sharedSections,
    overrides: z.record(z.string(), z.record(z.string(), z.unknown())),
    open_sections: z.array(z.string()),
    last_updated_at: instantText,
  })
  .register(shapeNames, { name: 'WorkspaceSettings' });
