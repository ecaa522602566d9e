import type { Page, QueryOf } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { taggedWith } from '../../kernel/database/tagged-with.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';

const withIntegration = {
  integration: {
    select: {
      slug: true,
      workspaceId: true,
      aiProviderId: true,
      maskedKey: true,
      configurations: true,
      secretMappings: true,
      tags: true,
    },
  },
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
  query: Page & Pick<QueryOf<'providers.list'>, 'tags'>,
): Promise<{ rows: ProviderRow[]; total: number }> {
  const where: Prisma.ProviderWhereInput = {
    workspaceId,
    integration: { AND: taggedWith(query.tags) },
  };
  const [rows, total] = await Promise.all([
    db.provider.findMany({
      where,
      include: withIntegration,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(query),
    }),
    db.provider.count({ where }),
  ]);
  return { rows, total };
}

export function insertProvider(
  db: Database,
  data: Prisma.ProviderUncheckedCreateInput,
): Promise<ProviderRow> {
  return db.provider.create({ data, include: withIntegration });
}

export function updateProvider(
  db: Database,
  id: string,
  data: Prisma.ProviderUncheckedUpdateInput,
): Promise<ProviderRow> {
  return db.provider.update({ where: { id }, data, include: withIntegration });
}

/** With the integration that was made for it, unless others have come to use that. */
export async function removeProvider(db: Database, provider: ProviderRow): Promise<void> {
  const { id, integrationId, ownsIntegration } = provider;
  await db.provider.delete({ where: { id } });
  if (ownsIntegration)
    await db.integration.deleteMany({ where: { id: integrationId, providers: { none: {} } } });
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
