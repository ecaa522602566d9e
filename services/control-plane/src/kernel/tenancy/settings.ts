import {
  defaultSettings,
  type MetadataSchema,
  type Settings,
  type SettingsSection,
  type SharedSection,
  sharedSectionNames,
} from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';

/** As it is kept: only what differs from the defaults, or from the organisation. */
export type StoredSettings = {
  readonly [S in SettingsSection]?: Readonly<Partial<Settings[S]>>;
} & { readonly workspace_overrides?: { readonly [S in SharedSection]?: boolean } };

/**
 * What holds: the organisation's settings over the defaults and, in the
 * sections that are open, the workspace's over both.
 * @param organisation  `organisations.settings`
 * @param workspace     `workspaces.settings`; nothing for the organisation itself
 */
export function effectiveSettings(organisation: unknown, workspace: unknown = {}): Settings {
  const ours = organisation as Record<string, object | undefined>;
  const theirs = workspace as Record<string, object | undefined>;
  const open = new Set<string>(openSections(organisation));
  const sections = Object.entries(defaultSettings).map(([section, values]) => [
    section,
    { ...values, ...ours[section], ...(open.has(section) ? theirs[section] : undefined) },
  ]);
  return Object.fromEntries(sections) as Settings;
}

/** The sections that the organisation opened to its workspaces. */
export function openSections(organisation: unknown): SharedSection[] {
  const overrides = (organisation as StoredSettings).workspace_overrides ?? {};
  return sharedSectionNames.filter((section) => overrides[section] === true);
}

/** Saved-only mode of a workspace: the organisation's own value is a column, beside the settings. */
export function blocksInlineConfig(workspace: {
  settings: unknown;
  organisation: { settings: unknown; blockInlineConfig: boolean };
}): boolean {
  const { settings, blockInlineConfig } = workspace.organisation;
  const data_plane_security_settings = { block_inline_config: blockInlineConfig };
  return effectiveSettings(
    { ...(settings as StoredSettings), data_plane_security_settings },
    workspace.settings,
  ).data_plane_security_settings.block_inline_config;
}

/**
 * Metadata as the organisation's schema wants it: what has a default and was
 * not given is filled in.
 * @throws 400 with the path of the first entry that is missing or not allowed.
 */
export function checkMetadata(
  schema: MetadataSchema | null,
  metadata: Readonly<Record<string, string>>,
  fieldPath: string,
): Record<string, string> {
  // A map, because a name may be one that every object has.
  const complete = new Map(Object.entries(metadata));
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const value = complete.get(name) ?? property.default;
    if (value === undefined) continue;
    if (property.enum !== undefined && !property.enum.includes(value))
      throw invalidField(`${fieldPath}.${name}`, `must be one of ${property.enum.join(', ')}`);
    complete.set(name, value);
  }
  const missing = schema?.required.find((name) => !complete.has(name));
  if (missing !== undefined)
    throw invalidField(`${fieldPath}.${missing}`, 'is required by the organisation');
  return Object.fromEntries(complete);
}

/** Metadata travels in headers, where everything is text. */
export function textMetadata(
  metadata: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).map(([key, value]) => [key, String(value)]),
  );
}
