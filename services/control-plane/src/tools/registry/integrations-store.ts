import type { Page } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { type IntegrationRow, type RegistryKind, tablesOf } from './tables.ts';

interface NewRows {
  mcp: Prisma.McpIntegrationUncheckedCreateInput;
  agent: Prisma.AgentIntegrationUncheckedCreateInput;
}
interface Changes {
  mcp: Prisma.McpIntegrationUncheckedUpdateInput;
  agent: Prisma.AgentIntegrationUncheckedUpdateInput;
}
export type NewIntegration<K extends RegistryKind> = NewRows[K];
export type IntegrationChanges<K extends RegistryKind> = Changes[K];

/** How many workspaces use it; only those that still exist. */
const grantsInForce = {
  select: { grants: { where: { enabled: true, workspace: { status: 'active' } } } },
};

/** An integration of the organisation, by UUID or slug. A slug may look like a UUID. */
export async function findIntegration<K extends RegistryKind>(
  db: Database,
  kind: K,
  organisationId: string,
  reference: string,
): Promise<IntegrationRow<K> | null> {
  const find = (where: { id: string } | { slug: string }) =>
    tablesOf(db, kind).integrations.findFirst({ where: { organisationId, ...where } });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return (byId ?? (await find({ slug: reference }))) as IntegrationRow<K> | null;
}

export async function listIntegrations<K extends RegistryKind>(
  db: Database,
  kind: K,
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
  const own: Prisma.McpIntegrationWhereInput = { workspaceId: workspaceId ?? { not: null } };
  const granted: Prisma.McpIntegrationWhereInput = {
    workspaceId: null,
    ...(workspaceId === undefined ? {} : { grants: { some: { workspaceId, enabled: true } } }),
  };
  const where: Prisma.McpIntegrationWhereInput = {
    organisationId: filter.organisationId,
    OR: [
      ...(filter.type === 'organisation' ? [] : [own]),
      ...(filter.type === 'workspace' ? [] : [granted]),
    ],
    ...(filter.search === undefined ? {} : { AND: [{ OR: namedLike(filter.search) }] }),
  };
  const { integrations } = tablesOf(db, kind);
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
      row: row as IntegrationRow as IntegrationRow<K>,
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

export async function insertIntegration<K extends RegistryKind>(
  db: Database,
  kind: K,
  data: NewIntegration<K>,
): Promise<IntegrationRow<K>> {
  const row = await tablesOf(db, kind).integrations.create({ data: data as NewRows['mcp'] });
  return row as IntegrationRow as IntegrationRow<K>;
}

export async function updateIntegration<K extends RegistryKind>(
  db: Database,
  kind: K,
  id: string,
  data: IntegrationChanges<K>,
): Promise<IntegrationRow<K>> {
  const row = await tablesOf(db, kind).integrations.update({
    where: { id },
    data: data as Changes['mcp'],
  });
  return row as IntegrationRow as IntegrationRow<K>;
}

/** Goes with the servers made of it, its grants and its offers. */
export async function removeIntegration(
  db: Database,
  kind: RegistryKind,
  id: string,
): Promise<void> {
  const { servers, integrations } = tablesOf(db, kind);
  await servers.deleteMany({ where: { integrationId: id } });
  await integrations.delete({ where: { id } });
}

/** The servers made of it, in every workspace. */
export function serversOf(db: Database, kind: RegistryKind, integrationId: string) {
  return tablesOf(db, kind).servers.findMany({
    where: { integrationId },
    select: { slug: true, workspaceId: true },
    orderBy: { id: 'asc' },
  });
}

/** What people signed in with belongs to the address where they did. Agents have no sign-ins. */
export async function forgetSignIns(
  db: Database,
  kind: RegistryKind,
  integrationId: string,
): Promise<void> {
  if (kind === 'mcp') await db.mcpConnection.deleteMany({ where: { server: { integrationId } } });
}
