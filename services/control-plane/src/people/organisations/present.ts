import { type SharedSection, sharedSectionNames } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import { effectiveSettings, openSections } from '../../kernel/tenancy/settings.ts';
import type { OrganisationRow } from './store.ts';

export function presentOrganisation(
  row: OrganisationRow,
  counts: { workspaces: number; users: number },
) {
  return {
    object: 'organisation' as const,
    id: row.id,
    name: row.name,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    ...counts,
  };
}

/** Every setting with its value, and which sections workspaces may decide themselves. */
export function presentOrganisationSettings(stored: unknown) {
  const open = new Set(openSections(stored));
  return {
    object: 'organisation-settings' as const,
    ...effectiveSettings(stored),
    workspace_overrides: Object.fromEntries(
      sharedSectionNames.map((section) => [section, open.has(section)]),
    ) as Record<SharedSection, boolean>,
  };
}

/** What holds in a workspace, and what of it is its own decision. */
export function presentWorkspaceSettings(row: {
  id: string;
  settings: unknown;
  updatedAt: Date;
  organisation: { settings: unknown };
}) {
  const {
    metadata_schemas: _schemas,
    joining: _joining,
    stored_credentials: _storedCredentials,
    retention: _retention,
    caching: _caching,
    ...shared
  } = effectiveSettings(row.organisation.settings, row.settings);
  return {
    object: 'workspace-settings' as const,
    workspace_id: row.id,
    ...shared,
    overrides: row.settings as Record<string, Record<string, unknown>>,
    open_sections: openSections(row.organisation.settings),
    last_updated_at: instant(row.updatedAt),
  };
}
