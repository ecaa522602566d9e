import type { WorkspaceRole } from '@sluice/contracts';
import type { Page } from '@sluice/contracts/admin';
import type { Prisma, ScimGroup } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';

const withGroup = { group: true } satisfies Prisma.ScimWorkspaceGroupInclude;

export type GroupRow = ScimGroup;
export type MappingRow = Prisma.ScimWorkspaceGroupGetPayload<{ include: typeof withGroup }>;

export async function listMappings(
  db: Database,
  organisationId: string,
  filter: {
    workspaceId: string | undefined;
    groupId: string | undefined;
    role: WorkspaceRole | undefined;
  },
  page: Page,
): Promise<{ rows: MappingRow[]; total: number }> {
  const where: Prisma.ScimWorkspaceGroupWhereInput = {
    ...filter,
    organisationId,
    status: 'active',
  };
  const [rows, total] = await Promise.all([
    db.scimWorkspaceGroup.findMany({
      where,
      include: withGroup,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.scimWorkspaceGroup.count({ where }),
  ]);
  return { rows, total };
}

export function findMapping(
  db: Database,
  organisationId: string,
  id: string,
): Promise<MappingRow | null> {
  return db.scimWorkspaceGroup.findFirst({
    where: { id, organisationId, status: 'active' },
    include: withGroup,
  });
}

/** All mappings that the group has. */
export function mappingsOf(db: Database, groupId: string): Promise<MappingRow[]> {
  return db.scimWorkspaceGroup.findMany({
    where: { groupId, status: 'active' },
    include: withGroup,
  });
}

/** One that was archived comes back with the role it is given now. */
export function putMapping(
  db: Database,
  data: Prisma.ScimWorkspaceGroupUncheckedCreateInput,
): Promise<MappingRow> {
  const { groupId, workspaceId, role, updatedAt = new Date() } = data;
  return db.scimWorkspaceGroup.upsert({
    where: { groupId_workspaceId: { groupId, workspaceId } },
    create: data,
    update: { role, status: 'active', updatedAt },
    include: withGroup,
  });
}

export async function archiveMapping(db: Database, id: string, now: Date): Promise<void> {
  await db.scimWorkspaceGroup.update({
    where: { id },
    data: { status: 'archived', updatedAt: now },
  });
}

export async function listGroups(
  db: Database,
  organisationId: string,
  search: string | undefined,
  page: Page,
): Promise<{ rows: GroupRow[]; total: number }> {
  const where: Prisma.ScimGroupWhereInput = {
    organisationId,
    ...(search === undefined ? {} : { name: { contains: literally(search), mode: 'insensitive' } }),
  };
  const [rows, total] = await Promise.all([
    db.scimGroup.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.scimGroup.count({ where }),
  ]);
  return { rows, total };
}

export function findGroup(
  db: Database,
  organisationId: string,
  named: { id: string } | { name: string },
): Promise<GroupRow | null> {
  return db.scimGroup.findFirst({ where: { organisationId, ...named } });
}

export function insertGroup(
  db: Database,
  data: Prisma.ScimGroupUncheckedCreateInput,
): Promise<GroupRow> {
  return db.scimGroup.create({ data });
}
