import type { Page } from '@sluice/contracts/admin';
import type { Prisma, PromptPartial, PromptPartialVersion } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { ReferenceFilter } from '../../kernel/tenancy/reach.ts';
import { sharedWith } from '../shares/share.ts';

export type PartialVersionRow = PromptPartialVersion;
export type PartialRow = PromptPartial;

export function findPartials(db: Database, filter: ReferenceFilter): Promise<PartialRow[]> {
  return db.promptPartial.findMany({ where: filter, take: 2 });
}

export function listPartials(
  db: Database,
  filter: {
    organisationId: string;
    workspaceId: string | undefined;
    collectionId: string | undefined;
    /** Those of other workspaces that are shared with this one, instead of its own. */
    onlyShared: boolean;
  },
  page: Page,
): Promise<PartialRow[]> {
  const { organisationId, workspaceId, collectionId } = filter;
  return db.promptPartial.findMany({
    where: {
      organisationId,
      collectionId,
      ...(filter.onlyShared ? sharedWith(workspaceId) : { workspaceId }),
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    ...paged(page),
  });
}

export async function insertPartial(
  db: Database,
  data: Prisma.PromptPartialUncheckedCreateInput,
  content: { template: string; description: string | null },
): Promise<{ partial: PartialRow; version: PartialVersionRow }> {
  const partial = await db.promptPartial.create({ data });
  return { partial, version: await insertVersion(db, partial, content) };
}

/** A version under the number that is the partial's latest. */
export function insertVersion(
  db: Database,
  partial: PartialRow,
  content: { template: string; description: string | null },
): Promise<PartialVersionRow> {
  return db.promptPartialVersion.create({
    data: {
      ...content,
      id: newId(),
      partialId: partial.id,
      version: partial.latestVersion,
      createdBy: partial.updatedBy,
      createdAt: partial.updatedAt,
    },
  });
}

export function updatePartial(
  db: Database,
  id: string,
  data: Prisma.PromptPartialUncheckedUpdateInput,
): Promise<PartialRow> {
  return db.promptPartial.update({ where: { id }, data });
}

export function describeVersion(
  db: Database,
  id: string,
  description: string | null | undefined,
): Promise<PartialVersionRow> {
  return db.promptPartialVersion.update({ where: { id }, data: { description } });
}

export async function removePartial(db: Database, id: string): Promise<void> {
  await db.promptPartial.delete({ where: { id } });
}

export function findVersion(
  db: Database,
  partialId: string,
  version: number,
): Promise<PartialVersionRow | null> {
  return db.promptPartialVersion.findUnique({
    where: { partialId_version: { partialId, version } },
  });
}

/** Newest first. */
export function listVersions(
  db: Database,
  partialId: string,
  page: Page,
): Promise<PartialVersionRow[]> {
  return db.promptPartialVersion.findMany({
    where: { partialId },
    orderBy: { version: 'desc' },
    ...paged(page),
  });
}
