import type { OrganisationRole } from '@sluice/contracts';
import type { Page } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

const withMemberships = {
  memberships: {
    where: { workspace: { status: 'active' } },
    select: { workspaceId: true },
    orderBy: { workspaceId: 'asc' },
  },
} satisfies Prisma.UserInclude;

export type UserRow = Prisma.UserGetPayload<{ include: typeof withMemberships }>;

export function findUser(
  db: Database,
  organisationId: string,
  id: string,
): Promise<UserRow | null> {
  return db.user.findFirst({ where: { organisationId, id }, include: withMemberships });
}

/** E-mail addresses are kept in lower case. */
export function findUserByEmail(
  db: Database,
  organisationId: string,
  email: string,
): Promise<UserRow | null> {
  return db.user.findUnique({
    where: { organisationId_email: { organisationId, email } },
    include: withMemberships,
  });
}

export async function listUsers(
  db: Database,
  organisationId: string,
  filter: { role?: OrganisationRole | undefined; email?: string | undefined },
  page: Page,
): Promise<{ rows: UserRow[]; total: number }> {
  const where: Prisma.UserWhereInput = { organisationId, role: filter.role, email: filter.email };
  const [rows, total] = await Promise.all([
    db.user.findMany({
      where,
      include: withMemberships,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.user.count({ where }),
  ]);
  return { rows, total };
}

export async function insertUser(
  db: Database,
  data: Prisma.UserUncheckedCreateInput,
): Promise<void> {
  await db.user.create({ data });
}

export async function updateUser(
  db: Database,
  id: string,
  data: Prisma.UserUncheckedUpdateInput,
): Promise<void> {
  await db.user.update({ where: { id }, data });
}

/** Their memberships and user keys go with them; service keys that they made stay. */
export async function removeUser(db: Database, id: string): Promise<void> {
  await db.user.delete({ where: { id } });
}
