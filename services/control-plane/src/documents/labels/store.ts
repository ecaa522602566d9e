import type { Page } from '@sluice/contracts/admin';
import type { Label, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { newId } from '../../kernel/names/ids.ts';

export type LabelRow = Label;

const universalNames = ['production', 'staging', 'development'];

/** Every organisation has them, and all of its workspaces share them. */
export async function insertUniversalLabels(
  db: Database,
  organisationId: string,
  now: Date,
): Promise<void> {
  await db.label.createMany({
    data: universalNames.map((name) => ({
      id: newId(),
      organisationId,
      name,
      isUniversal: true,
      createdAt: now,
      updatedAt: now,
    })),
  });
}

export function findLabel(
  db: Database,
  organisationId: string,
  id: string,
): Promise<LabelRow | null> {
  return db.label.findFirst({ where: { id, organisationId } });
}

/** Of a workspace, the universal ones among them; without one, of the whole organisation. */
export interface LabelScope {
  organisationId: string;
  workspaceId: string | undefined;
}

function inScope({ organisationId, workspaceId }: LabelScope): Prisma.LabelWhereInput {
  return workspaceId === undefined
    ? { organisationId }
    : { organisationId, OR: [{ workspaceId }, { workspaceId: null }] };
}

export function findLabelByName(
  db: Database,
  scope: LabelScope,
  name: string,
): Promise<LabelRow | null> {
  return db.label.findFirst({ where: { ...inScope(scope), name } });
}

export async function listLabels(
  db: Database,
  scope: LabelScope,
  query: Page & { search?: string | undefined },
): Promise<{ rows: LabelRow[]; total: number }> {
  const where: Prisma.LabelWhereInput = {
    ...inScope(scope),
    ...(query.search === undefined
      ? {}
      : { name: { contains: literally(query.search), mode: 'insensitive' } }),
  };
  const [rows, total] = await Promise.all([
    db.label.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...paged(query) }),
    db.label.count({ where }),
  ]);
  return { rows, total };
}

export function insertLabel(
  db: Database,
  data: Prisma.LabelUncheckedCreateInput,
): Promise<LabelRow> {
  return db.label.create({ data });
}

export function updateLabel(
  db: Database,
  id: string,
  data: Prisma.LabelUncheckedUpdateInput,
): Promise<LabelRow> {
  return db.label.update({ where: { id }, data });
}

/** It falls off every version that carries it. */
export async function removeLabel(db: Database, id: string): Promise<void> {
  await db.label.delete({ where: { id } });
}
