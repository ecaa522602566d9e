import type { QueryOf } from '@sluice/contracts/admin';
import type { Prisma, SecretReference } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { taggedWith } from '../../kernel/database/tagged-with.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';

export type SecretReferenceRow = SecretReference;

/** A secret reference of the organisation, by UUID or slug. A slug may look like a UUID. */
export async function findSecretReference(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<SecretReferenceRow | null> {
  const find = (where: { id: string } | { slug: string }) =>
    db.secretReference.findFirst({ where: { organisationId, ...where } });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? (await find({ slug: reference }));
}

export async function listSecretReferences(
  db: Database,
  organisationId: string,
  query: QueryOf<'secret-references.list'>,
): Promise<{ rows: SecretReferenceRow[]; total: number }> {
  const where: Prisma.SecretReferenceWhereInput = {
    organisationId,
    managerType: query.manager_type,
    name:
      query.search === undefined
        ? undefined
        : { contains: literally(query.search), mode: 'insensitive' },
    AND: taggedWith(query.tags),
  };
  const [rows, total] = await Promise.all([
    db.secretReference.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(query),
    }),
    db.secretReference.count({ where }),
  ]);
  return { rows, total };
}

export async function isSlugTaken(
  db: Database,
  organisationId: string,
  slug: string,
): Promise<boolean> {
  return (await db.secretReference.count({ where: { organisationId, slug } })) > 0;
}

export function insertSecretReference(
  db: Database,
  data: Prisma.SecretReferenceUncheckedCreateInput,
): Promise<SecretReferenceRow> {
  return db.secretReference.create({ data });
}

export function updateSecretReference(
  db: Database,
  id: string,
  data: Prisma.SecretReferenceUncheckedUpdateInput,
): Promise<SecretReferenceRow> {
  return db.secretReference.update({ where: { id }, data });
}

export async function removeSecretReference(db: Database, id: string): Promise<void> {
  await db.secretReference.delete({ where: { id } });
}

/** Ids of the workspaces a reference is open to, when it is not open to all. */
export async function listAllowedWorkspaces(db: Database, id: string): Promise<string[]> {
  const rows = await db.secretReferenceWorkspace.findMany({
    where: { secretReferenceId: id },
    orderBy: { workspaceId: 'asc' },
    take: 1000,
  });
  return rows.map((row) => row.workspaceId);
}

export async function replaceAllowedWorkspaces(
  db: Database,
  id: string,
  workspaceIds: readonly string[],
  now: Date,
): Promise<void> {
  await db.secretReferenceWorkspace.deleteMany({ where: { secretReferenceId: id } });
  await db.secretReferenceWorkspace.createMany({
    data: workspaceIds.map((workspaceId) => ({
      secretReferenceId: id,
      workspaceId,
      createdAt: now,
    })),
  });
}

export async function isOpenTo(
  db: Database,
  row: SecretReferenceRow,
  workspaceId: string,
): Promise<boolean> {
  if (row.allowAllWorkspaces) return true;
  const count = await db.secretReferenceWorkspace.count({
    where: { secretReferenceId: row.id, workspaceId },
  });
  return count > 0;
}

/** How many of each kind of thing take a value from the reference; they name it by id or slug. */
export async function countUses(db: Database, row: SecretReferenceRow) {
  const where = {
    organisationId: row.organisationId,
    OR: [row.id, row.slug].map((name) => ({
      secretMappings: { array_contains: [{ secret_reference_id: name }] },
    })),
  };
  const [integrations, mcpIntegrations, agentIntegrations] = await Promise.all([
    db.integration.count({ where }),
    db.mcpIntegration.count({ where }),
    db.agentIntegration.count({ where }),
  ]);
  return { integrations, mcpIntegrations, agentIntegrations };
}
