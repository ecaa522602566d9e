import type { Page } from '@sluice/contracts/admin';
import type { Collection, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { ReferenceFilter } from '../../kernel/tenancy/reach.ts';

export type CollectionRow = Collection;

export function findCollections(db: Database, filter: ReferenceFilter): Promise<CollectionRow[]> {
  return db.collection.findMany({ where: filter, take: 2 });
}

export function findDefaultCollection(db: Database, workspaceId: string): Promise<CollectionRow> {
  return db.collection.findFirstOrThrow({ where: { workspaceId, isDefault: true } });
}

export async function listCollections(
  db: Database,
  workspaceId: string,
  query: Page & { search?: string | undefined },
): Promise<{ rows: CollectionRow[]; total: number }> {
  const where: Prisma.CollectionWhereInput = {
    workspaceId,
    ...(query.search === undefined
      ? {}
      : { name: { contains: literally(query.search), mode: 'insensitive' } }),
  };
  const [rows, total] = await Promise.all([
    db.collection.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(query),
    }),
    db.collection.count({ where }),
  ]);
  return { rows, total };
}

/** The published answer knows no pages; this caps it. */
export function listChildren(db: Database, parentId: string): Promise<CollectionRow[]> {
  return db.collection.findMany({
    where: { parentId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: 1000,
  });
}

/** What stands in a collection, and when it was last changed. */
export interface CollectionContents {
  children: number;
  prompts: number;
  childrenUpdatedAt: Date | null;
  promptsUpdatedAt: Date | null;
}

export async function readContents(
  db: Database,
  ids: readonly string[],
): Promise<(id: string) => CollectionContents> {
  const shape = { _count: { _all: true }, _max: { updatedAt: true } } as const;
  const [children, prompts] = await Promise.all([
    db.collection.groupBy({ by: ['parentId'], where: { parentId: { in: [...ids] } }, ...shape }),
    db.prompt.groupBy({
      by: ['collectionId'],
      where: { collectionId: { in: [...ids] } },
      ...shape,
    }),
  ]);
  const childrenOf = new Map(children.map((group) => [group.parentId, group]));
  const promptsOf = new Map(prompts.map((group) => [group.collectionId, group]));
  return (id) => ({
    children: childrenOf.get(id)?._count._all ?? 0,
    prompts: promptsOf.get(id)?._count._all ?? 0,
    childrenUpdatedAt: childrenOf.get(id)?._max.updatedAt ?? null,
    promptsUpdatedAt: promptsOf.get(id)?._max.updatedAt ?? null,
  });
}

export function countPartials(db: Database, collectionId: string): Promise<number> {
  return db.promptPartial.count({ where: { collectionId } });
}

export function insertCollection(
  db: Database,
  data: Prisma.CollectionUncheckedCreateInput,
): Promise<CollectionRow> {
  return db.collection.create({ data });
}

/** Every workspace has one: where things are that nobody put elsewhere. */
export async function insertDefaultCollection(
  db: Database,
  workspace: { id: string; organisationId: string },
  now: Date,
): Promise<void> {
  await insertCollection(db, {
    id: newId(),
    organisationId: workspace.organisationId,
    workspaceId: workspace.id,
    slug: 'default',
    name: 'Default',
    isDefault: true,
    createdAt: now,
    updatedAt: now,
  });
}

export function updateCollection(
  db: Database,
  id: string,
  data: Prisma.CollectionUncheckedUpdateInput,
): Promise<CollectionRow> {
  return db.collection.update({ where: { id }, data });
}

export async function removeCollection(db: Database, id: string): Promise<void> {
  await db.collection.delete({ where: { id } });
}
