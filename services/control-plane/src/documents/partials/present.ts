import { instant } from '../../kernel/http/shapes.ts';
import { shareOf } from '../shares/share.ts';
import type { PartialRow, PartialVersionRow } from './store.ts';

/** A line of the list. */
export function presentSummary(row: PartialRow, showShare: boolean) {
  return {
    ...presentRow(row),
    ...(showShare ? { share: shareOf(row) } : {}),
    object: 'partial' as const,
  };
}

/** A partial merged with one of its versions. */
export function presentPartial(row: PartialRow, version: PartialVersionRow) {
  return {
    ...presentRow(row),
    string: version.template,
    version: version.version,
    version_description: version.description ?? undefined,
    prompt_partial_version_id: version.id,
    published_version: row.publishedVersion,
    latest_version: row.latestVersion,
  };
}

/** A line of the history. */
export function presentVersion(row: PartialRow, version: PartialVersionRow) {
  return {
    prompt_partial_id: row.id,
    prompt_partial_version_id: version.id,
    slug: row.slug,
    version: String(version.version),
    string: version.template,
    description: version.description ?? undefined,
    created_at: instant(version.createdAt),
    prompt_version_status: version.status as 'active',
    object: 'partial' as const,
  };
}

function presentRow(row: PartialRow) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    collection_id: row.collectionId,
    workspace_id: row.workspaceId,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    status: row.status as 'active',
  };
}
