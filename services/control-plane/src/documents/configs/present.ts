import { parseText } from '@sluice/json';
import { instant } from '../../kernel/http/shapes.ts';
import type { ConfigRow, ConfigVersionRow } from './store.ts';
import { shownDocument } from './stored-document.ts';

export function presentConfig(row: ConfigRow) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    is_default: row.isDefault ? 1 : 0,
    status: row.status,
    owner_id: row.ownerId,
    updated_by: row.updatedBy,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}

/** One config whole: here the document is an object. */
export function presentConfigDetail(row: ConfigRow, version: ConfigVersionRow) {
  return {
    ...presentConfig(row),
    version_id: version.id,
    config: parseText(shownDocument(version)) as Record<string, unknown>,
  };
}

/** A line of the history: here the document is text. */
export function presentConfigVersion(row: ConfigRow, version: ConfigVersionRow) {
  return {
    ...presentConfig(row),
    name: version.name,
    status: version.status,
    updated_by: version.createdBy,
    last_updated_at: instant(version.createdAt),
    config: shownDocument(version),
    format: 'json' as const,
    type: 'ORG_CONFIG' as const,
    version_id: version.id,
    version: version.version,
    object: 'config' as const,
  };
}
