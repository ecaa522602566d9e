import type { Page } from '@sluice/contracts';
import type { Database } from '../database/client.ts';
import { isUuid } from '../database/ids.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { paged } from '../http/shapes.ts';

const withIntegration = {
  integration: { select: { slug: true } },
} satisfies Prisma.ProviderInclude;

export type ProviderRow = Prisma.ProviderGetPayload<{ include: typeof withIntegration }>;

/** A provider of the workspace, by UUID or slug. A slug may look like a UUID. */
export async function findProviderRow(
  db: Database,
  workspaceId: string,
  reference: string,
): Promise<ProviderRow | null> {
  const find = (where: { id: string } | { slug: string }) =>
    db.provider.findFirst({ where: { workspaceId, ...where }, include: withIntegration });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? (await find({ slug: reference }));
}

/** A provider of the workspace that uses this integration; the one of this slug before others. */
export async function findProviderOf(
  db: Database,
  workspaceId: string,
  integrationId: string,
  slug: string,
): Promise<{ slug: string } | null> {
  const find = (where: { slug?: string }) =>
    db.provider.findFirst({
      where: { workspaceId, integrationId, ...where },
      select: { slug: true },
      orderBy: { createdAt: 'asc' },
    });
  return (await find({ slug })) ?? (await find({}));
}

export async function listProviders(
  db: Database,
  workspaceId: string,
  page: Page,
): Promise<{ rows: ProviderRow[]; total: number }> {
  const where = { workspaceId };
  const [rows, total] = await Promise.all([
    db.provider.findMany({
      where,
      include: withIntegration,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.provider.count({ where }),
  ]);
  return { rows, total };
}

export async function insertProvider(
  db: Database,
  data: Prisma.ProviderUncheckedCreateInput,
): Promise<void> {
  await db.provider.create({ data });
}

export async function updateProvider(
  db: Database,
  id: string,
  data: Prisma.ProviderUncheckedUpdateInput,
): Promise<void> {
  await db.provider.update({ where: { id }, data });
}

export async function removeProvider(db: Database, id: string): Promise<void> {
  await db.provider.delete({ where: { id } });
}

export async function hasSlug(db: Database, workspaceId: string, slug: string): Promise<boolean> {
  return (await db.provider.count({ where: { workspaceId, slug } })) > 0;
}

export async function hasProviderOf(
  db: Database,
  workspaceId: string,
  integrationId: string,
): Promise<boolean> {
  return (await db.provider.count({ where: { workspaceId, integrationId } })) > 0;
}
