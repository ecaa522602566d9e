import type { WorkspaceRole } from '@sluice/contracts';
import { instant } from '../../kernel/http/shapes.ts';
import type { GroupRow, MappingRow } from './store.ts';

export function presentMapping(row: MappingRow) {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    scim_group: row.group.name,
    scim_group_id: row.groupId,
    role: row.role as WorkspaceRole,
  };
}

export function presentGroup(row: GroupRow) {
  return {
    id: row.id,
    name: row.name,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}
