import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { CollectionContents, CollectionRow } from './store.ts';

export function presentCollection(row: CollectionRow) {
  return {
    id: row.id,
    name: row.name,
    workspace_id: row.workspaceId,
    slug: row.slug,
    parent_collection_id: row.parentId,
    is_default: row.isDefault,
    status: row.status as 'active',
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}

/** A line of the list. */
export function presentWithDetails(row: CollectionRow, contents: CollectionContents) {
  return { ...presentCollection(row), collection_details: presentContents(contents) };
}

/** A line below the collection that holds it. */
export function presentChild(row: CollectionRow, contents: CollectionContents) {
  return {
    id: row.id,
    name: row.name,
    last_updated_at: instant(row.updatedAt),
    collection_details: presentContents(contents),
  };
}

function presentContents(contents: CollectionContents) {
  return {
    child_collections_count: contents.children,
    prompts_count: contents.prompts,
    child_collections_last_updated_at: optionalInstant(contents.childrenUpdatedAt),
    prompts_last_updated_at: optionalInstant(contents.promptsUpdatedAt),
  };
}
