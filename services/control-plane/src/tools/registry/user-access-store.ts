import type { Page } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { ServerRow } from './tables.ts';

/** Who can be in the server's workspace at all: its members, and whoever runs the organisation. */
function usersOf(server: ServerRow): Prisma.UserWhereInput {
  return {
    organisationId: server.organisationId,
    OR: [
      { role: { in: ['owner', 'admin'] } },
      { memberships: { some: { workspaceId: server.workspaceId } } },
    ],
  };
}

export interface UserAccessRow {
  userId: string;
  firstName: string;
  lastName: string;
  /** What was said about this user; undefined = the server's default counts. */
  override: boolean | undefined;
}

export async function listUserAccess(
  db: Database,
  kind: RegistryKind,
  server: ServerRow,
  search: string | undefined,
  page: Page,
): Promise<{ rows: UserAccessRow[]; total: number }> {
  const contains = { contains: literally(search ?? ''), mode: 'insensitive' as const };
  const where: Prisma.UserWhereInput = {
    AND: [
      usersOf(server),
      search === undefined
        ? {}
        : { OR: [{ firstName: contains }, { lastName: contains }, { email: contains }] },
    ],
  };
  const [users, total] = await Promise.all([
    db.user.findMany({
      where,
      select: { id: true, firstName: true, lastName: true },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.user.count({ where }),
  ]);
  const overrides = await kind.tables(db).userAccess.findMany({
    where: { serverId: server.id, userId: { in: users.map((user) => user.id) } },
  });
  const override = new Map(overrides.map((row) => [row.userId, row.enabled]));
  return {
    rows: users.map(({ id, ...names }) => ({ userId: id, ...names, override: override.get(id) })),
    total,
  };
}

/** Which of these ids are users that can be in the server's workspace. */
export async function usersWithin(
  db: Database,
  server: ServerRow,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await db.user.findMany({
    where: { AND: [usersOf(server), { id: { in: [...ids] } }] },
    select: { id: true },
  });
  return new Set(rows.map((row) => row.id));
}

/** Says of each user whether they may call the server, or, with null, that the default counts. */
export async function setUserAccess(
  db: Database,
  kind: RegistryKind,
  serverId: string,
  access: ReadonlyMap<string, boolean | null>,
  now: Date,
): Promise<void> {
  const { userAccess } = kind.tables(db);
  await userAccess.deleteMany({ where: { serverId, userId: { in: [...access.keys()] } } });
  await userAccess.createMany({
    data: [...access].flatMap(([userId, enabled]) =>
      enabled === null ? [] : [{ serverId, userId, enabled, createdAt: now, updatedAt: now }],
    ),
  });
}

export async function setDefaultUserAccess(
  db: Database,
  kind: RegistryKind,
  serverId: string,
  access: 'allow' | 'deny',
  now: Date,
): Promise<void> {
  await kind.tables(db).servers.update({
    where: { id: serverId },
    data: { defaultUserAccess: access, updatedAt: now },
  });
}

/** Every exception of the server, for the audit log. */
export async function overridesOf(
  db: Database,
  kind: RegistryKind,
  serverId: string,
): Promise<{ user_id: string; enabled: boolean }[]> {
  const rows = await kind.tables(db).userAccess.findMany({
    where: { serverId },
    orderBy: { userId: 'asc' },
    take: 1000,
  });
  return rows.map((row) => ({ user_id: row.userId, enabled: row.enabled }));
}
