import { instant, optionalInstant } from '../../kernel/http/shapes.ts';
import type { InvitedWorkspace, InviteRow, InviteStatus } from './store.ts';

export function statusOf(row: InviteRow, now: Date): InviteStatus {
  return row.status === 'pending' && row.expiresAt <= now
    ? 'expired'
    : (row.status as InviteStatus);
}

/** An invite as it is shown; its link only to who made it. */
export function presentInvite(row: InviteRow, now: Date) {
  return {
    object: 'invite' as const,
    id: row.id,
    email: row.email,
    role: row.role as 'admin' | 'member',
    created_at: instant(row.createdAt),
    expires_at: instant(row.expiresAt),
    accepted_at: optionalInstant(row.acceptedAt) ?? undefined,
    status: statusOf(row, now),
    invited_by: row.invitedBy ?? undefined,
    workspaces: (row.workspaces as unknown as InvitedWorkspace[]).map(({ id, role }) => ({
      workspace_id: id,
      role,
    })),
  };
}
