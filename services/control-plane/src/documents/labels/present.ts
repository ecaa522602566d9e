import { instant } from '../../kernel/http/shapes.ts';
import type { LabelRow } from './store.ts';

export function presentLabel(row: LabelRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    color_code: row.colorCode,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? undefined,
    is_universal: row.isUniversal,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    status: row.status,
  };
}
