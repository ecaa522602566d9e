import type { OrganisationRole } from '@sluice/contracts';
import { instant } from '../../kernel/http/shapes.ts';
import type { UserRow } from './store.ts';

/**
 * A user as they are shown.
 * @param workspaceIds  all workspaces there are: where owners and admins are at home
 */
export function presentUser(row: UserRow, workspaceIds: readonly string[]) {
  return {
    object: 'user' as const,
    id: row.id,
    first_name: row.firstName,
    last_name: row.lastName,
    role: row.role as OrganisationRole,
    email: row.email,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    workspace_ids:
      row.role === 'member'
        ? row.memberships.map((membership) => membership.workspaceId)
        : [...workspaceIds],
  };
}
