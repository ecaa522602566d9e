import type { Page } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { namedLike } from './integrations-store.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { FoundServer, KindTypes, NewServer, ServerWhere } from './tables.ts';

const whereabouts = {
  workspace: { select: { slug: true, name: true } },
  integration: true,
} as const;

/** A server of the organisation, by UUID or slug. A slug may look like a UUID. */
export async function findServer<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  organisationId: string,
  reference: string,
): Promise<FoundServer<K> | null> {
  const find = (where: { id: string } | { slug: string }) =>
    kind.tables(db).servers.findFirst({
      where: { organisationId, ...where },
      include: whereabouts,
    });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? find({ slug: reference });
}

export async function listServers<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  filter: {
    organisationId: string;
    workspaceId: string | undefined;
    /** UUIDs and slugs; undefined = all. */
    references: readonly string[] | undefined;
    search: string | undefined;
  },
  page: Page,
): Promise<{ rows: FoundServer<K>[]; total: number }> {
  const { references, search } = filter;
  const where: ServerWhere = {
    organisationId: filter.organisationId,
    workspaceId: filter.workspaceId,
    AND: [
      references === undefined
        ? {}
        : { OR: [{ id: { in: references.filter(isUuid) } }, { slug: { in: [...references] } }] },
      search === undefined ? {} : { OR: namedLike(search) },
    ],
  };
  const { servers } = kind.tables(db);
  const [rows, total] = await Promise.all([
    servers.findMany({
      where,
      include: whereabouts,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    servers.count({ where }),
  ]);
  return { rows, total };
}

export async function insertServer(
  db: Database,
  kind: RegistryKind,
  data: NewServer,
): Promise<void> {
  await kind.tables(db).servers.create({ data });
}

export async function updateServer(
  db: Database,
  kind: RegistryKind,
  id: string,
  data: { name?: string | undefined; description?: string | null | undefined; updatedAt: Date },
): Promise<void> {
  await kind.tables(db).servers.update({ where: { id }, data });
}

/** Goes with its switches, its user access and its connections. */
export async function removeServer(db: Database, kind: RegistryKind, id: string): Promise<void> {
  await kind.tables(db).servers.delete({ where: { id } });
}
