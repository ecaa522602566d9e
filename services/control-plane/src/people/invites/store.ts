import type { WorkspaceRole } from '@sluice/contracts';
import type { Page } from '@sluice/contracts/admin';
import type { Invite, Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

export type InviteRow = Invite;
export type InviteStatus = 'pending' | 'cancelled' | 'accepted' | 'expired';

/** A place in a workspace that an invite holds ready. */
export interface InvitedWorkspace {
  readonly id: string;
  readonly role: WorkspaceRole;
}

/** That an invite has expired is written down nowhere: it follows from the time. */
function inStatus(status: InviteStatus, now: Date): Prisma.InviteWhereInput {
  if (status === 'expired') return { status: 'pending', expiresAt: { lte: now } };
  if (status === 'pending') return { status, expiresAt: { gt: now } };
  return { status };
}

export function findInvite(
  db: Database,
  organisationId: string,
  id: string,
): Promise<InviteRow | null> {
  return db.invite.findFirst({ where: { organisationId, id } });
}

export function findPendingInvite(
  db: Database,
  organisationId: string,
  email: string,
  now: Date,
): Promise<InviteRow | null> {
  return db.invite.findFirst({ where: { organisationId, email, ...inStatus('pending', now) } });
}

export function findInviteByToken(db: Database, tokenHash: Buffer): Promise<InviteRow | null> {
  return db.invite.findUnique({ where: { tokenHash: bytes(tokenHash) } });
}

export async function listInvites(
  db: Database,
  organisationId: string,
  filter: {
    role?: string | undefined;
    email?: string | undefined;
    status?: InviteStatus | undefined;
  },
  page: Page,
  now: Date,
): Promise<{ rows: InviteRow[]; total: number }> {
  const where: Prisma.InviteWhereInput = {
    organisationId,
    role: filter.role,
    email: filter.email,
    ...(filter.status === undefined ? {} : inStatus(filter.status, now)),
  };
  const [rows, total] = await Promise.all([
    db.invite.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.invite.count({ where }),
  ]);
  return { rows, total };
}

export function insertInvite(
  db: Database,
  data: Prisma.InviteUncheckedCreateInput,
): Promise<InviteRow> {
  return db.invite.create({ data });
}

export function updateInvite(
  db: Database,
  id: string,
  data: Prisma.InviteUncheckedUpdateInput,
): Promise<InviteRow> {
  return db.invite.update({ where: { id }, data });
}
