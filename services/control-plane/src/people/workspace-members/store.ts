import type { WorkspaceRole } from '@sluice/contracts';
import type { Page } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

const withUser = { user: true } satisfies Prisma.WorkspaceMemberInclude;

export type MemberRow = Prisma.WorkspaceMemberGetPayload<{ include: typeof withUser }>;

export function findMember(
  db: Database,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | null> {
  return db.workspaceMember.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    include: withUser,
  });
}

export async function listMembers(
  db: Database,
  workspaceId: string,
  filter: { role?: WorkspaceRole | undefined; email?: string | undefined },
  page: Page,
): Promise<{ rows: MemberRow[]; total: number }> {
  const where: Prisma.WorkspaceMemberWhereInput = {
    workspaceId,
    role: filter.role,
    ...(filter.email === undefined ? {} : { user: { email: filter.email } }),
  };
  const [rows, total] = await Promise.all([
    db.workspaceMember.findMany({
      where,
      include: withUser,
      orderBy: [{ createdAt: 'desc' }, { userId: 'desc' }],
      ...paged(page),
    }),
    db.workspaceMember.count({ where }),
  ]);
  return { rows, total };
}

/** Makes the user a member, or changes the role of one who is. */
export async function putMember(
  db: Database,
  member: { workspaceId: string; userId: string; role: WorkspaceRole },
  now: Date,
): Promise<void> {
  const { workspaceId, userId, role } = member;
  await db.workspaceMember.upsert({
    where: { workspaceId_userId: { workspaceId, userId } },
    create: { workspaceId, userId, role, createdAt: now, updatedAt: now },
    update: { role, updatedAt: now },
  });
}

export async function removeMember(
  db: Database,
  workspaceId: string,
  userId: string,
): Promise<void> {
  // What they signed in for at the workspace's MCP servers goes with them.
  await db.mcpConnection.deleteMany({ where: { userId, server: { workspaceId } } });
  await db.workspaceMember.delete({ where: { workspaceId_userId: { workspaceId, userId } } });
}
