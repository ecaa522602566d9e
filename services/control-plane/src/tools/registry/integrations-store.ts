import type { Page } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import type { RegistryKind } from './registry-kind.ts';
import type {
  IntegrationChanges,
  IntegrationRow,
  IntegrationWhere,
  KindTypes,
  NewIntegration,
} from './tables.ts';

/** How many workspaces use it; only those that still exist. */
const grantsInForce = {
  select: { grants: { where: { enabled: true, workspace: { status: 'active' } } } },
};

/** An integration of the organisation, by UUID or slug. A slug may look like a UUID. */
export async function findIntegration<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  organisationId: string,
  reference: string,
): Promise<IntegrationRow<K> | null> {
  const find = (where: { id: string } | { slug: string }) =>
    kind.tables(db).integrations.findFirst({ where: { organisationId, ...where } });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? find({ slug: reference });
}

export async function listIntegrations<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  filter: {
    organisationId: string;
    /** Own and granted ones of this workspace; undefined = all of the organisation. */
    workspaceId: string | undefined;
    type: 'workspace' | 'organisation' | 'all';
    search: string | undefined;
  },
  page: Page,
): Promise<{ rows: { row: IntegrationRow<K>; workspaceCount: number }[]; total: number }> {
  const { workspaceId } = filter;
  const own: IntegrationWhere = { workspaceId: workspaceId ?? { not: null } };
  const granted: IntegrationWhere = {
    workspaceId: null,
    ...(workspaceId === undefined ? {} : { grants: { some: { workspaceId, enabled: true } } }),
  };
  const where: IntegrationWhere = {
    organisationId: filter.organisationId,
    OR: [
      ...(filter.type === 'organisation' ? [] : [own]),
      ...(filter.type === 'workspace' ? [] : [granted]),
    ],
    ...(filter.search === undefined ? {} : { AND: [{ OR: namedLike(filter.search) }] }),
  };
  const { integrations } = kind.tables(db);
  const [rows, total] = await Promise.all([
    integrations.findMany({
      where,
      include: { _count: grantsInForce },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    integrations.count({ where }),
  ]);
  return {
    rows: rows.map(({ _count, ...row }) => ({
      row,
      workspaceCount: row.workspaceId === null ? _count.grants : 1,
    })),
    total,
  };
}

/** Whose name or slug holds the text. */
export function namedLike(text: string) {
  const contains = { contains: literally(text), mode: 'insensitive' as const };
  return [{ name: contains }, { slug: contains }];
}

export async function insertIntegration<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  data: NewIntegration<K>,
): Promise<IntegrationRow<K>> {
  return kind.tables(db).integrations.create({ data });
}

export async function updateIntegration<K extends KindTypes>(
  db: Database,
  kind: RegistryKind<K>,
  id: string,
  data: IntegrationChanges<K>,
): Promise<IntegrationRow<K>> {
  return kind.tables(db).integrations.update({ where: { id }, data });
}

/** Goes with the servers made of it, its grants and its offers. */
export async function removeIntegration(
  db: Database,
  kind: RegistryKind,
  id: string,
): Promise<void> {
  const { servers, integrations } = kind.tables(db);
  await servers.deleteMany({ where: { integrationId: id } });
  await integrations.delete({ where: { id } });
}

/** The servers made of it, in every workspace. */
export function serversOf(db: Database, kind: RegistryKind, integrationId: string) {
  return kind.tables(db).serverNames.findMany({
    where: { integrationId },
    select: { slug: true, workspaceId: true },
    orderBy: { id: 'asc' },
  });
}
