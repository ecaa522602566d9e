import type { Page } from '@sluice/contracts/admin';
import {
  type Integration,
  type IntegrationModel,
  type IntegrationWorkspace,
  Prisma,
} from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { taggedWith } from '../../kernel/database/tagged-with.ts';
import { paged, pageOf } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';

export type IntegrationRow = Integration;
export type IntegrationModelRow = IntegrationModel;
export type GrantRow = IntegrationWorkspace;

/** An integration of the organisation, by UUID or slug. A slug may look like a UUID. */
export async function findIntegration(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<IntegrationRow | null> {
  const find = (where: { id: string } | { slug: string }) =>
    db.integration.findFirst({ where: { organisationId, ...where } });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? (await find({ slug: reference }));
}

export async function listIntegrations(
  db: Database,
  filter: {
    organisationId: string;
    /** Own and granted ones of this workspace; undefined = all of the organisation. */
    workspaceId: string | undefined;
    type: 'workspace' | 'organisation' | 'all';
    tags: Readonly<Record<string, string>> | undefined;
  },
  page: Page,
): Promise<{ rows: IntegrationRow[]; total: number }> {
  const own: Prisma.IntegrationWhereInput =
    filter.workspaceId === undefined
      ? { workspaceId: { not: null } }
      : { workspaceId: filter.workspaceId };
  const granted: Prisma.IntegrationWhereInput =
    filter.workspaceId === undefined
      ? { workspaceId: null }
      : { workspaceId: null, grants: { some: { workspaceId: filter.workspaceId, enabled: true } } };
  const where: Prisma.IntegrationWhereInput = {
    organisationId: filter.organisationId,
    OR: [
      ...(filter.type === 'organisation' ? [] : [own]),
      ...(filter.type === 'workspace' ? [] : [granted]),
    ],
    AND: taggedWith(filter.tags),
  };
  const [rows, total] = await Promise.all([
    db.integration.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.integration.count({ where }),
  ]);
  return { rows, total };
}

export function insertIntegration(
  db: Database,
  data: Prisma.IntegrationUncheckedCreateInput,
): Promise<IntegrationRow> {
  return db.integration.create({ data });
}

export async function updateIntegration(
  db: Database,
  id: string,
  data: Prisma.IntegrationUncheckedUpdateInput,
): Promise<void> {
  await db.integration.update({ where: { id }, data });
}

/** Goes with everything made from it: providers, grants, models. */
export async function removeIntegration(db: Database, id: string): Promise<void> {
  await db.provider.deleteMany({ where: { integrationId: id } });
  await db.integration.delete({ where: { id } });
}

/** As many of the providers made from it as an answer lists. */
export function providersOf(db: Database, integrationId: string) {
  return db.provider.findMany({
    where: { integrationId },
    select: { slug: true, workspaceId: true, workspace: { select: { slug: true } } },
    orderBy: { id: 'asc' },
    take: 20,
  });
}

/** Workspaces whose bundle holds something of the integration. */
export async function workspacesUsing(db: Database, integrationId: string): Promise<string[]> {
  const rows = await db.provider.findMany({
    where: { integrationId },
    select: { workspaceId: true },
    distinct: ['workspaceId'],
  });
  return rows.map((row) => row.workspaceId);
}

export async function listModels(
  db: Database,
  integrationId: string,
  page: Page,
): Promise<{ rows: IntegrationModelRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    db.integrationModel.findMany({
      where: { integrationId },
      orderBy: { slug: 'asc' },
      ...paged(page),
    }),
    db.integrationModel.count({ where: { integrationId } }),
  ]);
  return { rows, total };
}

export function findModels(
  db: Database,
  integrationId: string,
  slugs: readonly string[],
): Promise<IntegrationModelRow[]> {
  return db.integrationModel.findMany({
    where: { integrationId, slug: { in: [...slugs] } },
    orderBy: { slug: 'asc' },
  });
}

/** Those that have an address or headers of their own. */
export function findModelsWithSettings(
  db: Database,
  integrationId: string,
): Promise<IntegrationModelRow[]> {
  return db.integrationModel.findMany({
    where: { integrationId, NOT: { configurations: { equals: {} } } },
    orderBy: { slug: 'asc' },
  });
}

export async function upsertModel(
  db: Database,
  integrationId: string,
  slug: string,
  data: Omit<Prisma.IntegrationModelUncheckedCreateInput, 'integrationId' | 'slug'>,
): Promise<void> {
  const { createdAt: _createdAt, ...changes } = data;
  await db.integrationModel.upsert({
    where: { integrationId_slug: { integrationId, slug } },
    create: { ...data, integrationId, slug },
    update: changes,
  });
}

export async function removeCustomModels(
  db: Database,
  integrationId: string,
  slugs: readonly string[],
): Promise<void> {
  await db.integrationModel.deleteMany({
    where: { integrationId, isCustom: true, slug: { in: [...slugs] } },
  });
}

/** What a workspace was given of an integration; of its own one, before anybody said anything, that it is open. */
export async function findGrant(
  db: Database,
  integration: IntegrationRow,
  workspaceId: string,
): Promise<GrantRow | null> {
  const grant = await db.integrationWorkspace.findUnique({
    where: { integrationId_workspaceId: { integrationId: integration.id, workspaceId } },
  });
  return (
    grant ?? (integration.workspaceId === workspaceId ? ownGrant(integration, workspaceId) : null)
  );
}

/** Of active workspaces, oldest first. */
export async function listGrants(
  db: Database,
  integration: IntegrationRow,
  workspaceId: string | undefined,
  page: Page,
) {
  const where = {
    integrationId: integration.id,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    workspace: { status: 'active' },
  };
  const [rows, total] = await Promise.all([
    db.integrationWorkspace.findMany({
      where,
      include: { workspace: { select: { slug: true } } },
      orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }],
      ...paged(page),
    }),
    db.integrationWorkspace.count({ where }),
  ]);
  if (total > 0 || integration.workspaceId === null) return { rows, total };
  const workspace = await db.workspace.findFirst({
    where: { id: integration.workspaceId, status: 'active' },
    select: { slug: true },
  });
  if (workspace === null) return { rows, total };
  const own = { ...ownGrant(integration, integration.workspaceId), workspace };
  return { rows: pageOf([own], page), total: 1 };
}

/** Of every workspace that was ever named, archived ones too, by their ids. */
export async function listEveryGrant(
  db: Database,
  integration: IntegrationRow,
): Promise<ReadonlyMap<string, GrantRow>> {
  const rows = await db.integrationWorkspace.findMany({
    where: { integrationId: integration.id },
  });
  const { workspaceId } = integration;
  if (rows.length === 0 && workspaceId !== null)
    return new Map([[workspaceId, ownGrant(integration, workspaceId)]]);
  return new Map(rows.map((row) => [row.workspaceId, row]));
}

/** Where nobody limited or closed an integration to the workspace that it belongs to. */
function ownGrant({ id, createdAt }: IntegrationRow, workspaceId: string): GrantRow {
  return {
    integrationId: id,
    workspaceId,
    enabled: true,
    usageLimits: null,
    rateLimits: null,
    lastResetAt: null,
    createdAt,
    updatedAt: createdAt,
  };
}

export async function upsertGrant(
  db: Database,
  integrationId: string,
  workspaceId: string,
  grant: {
    enabled: boolean;
    usageLimits?: Prisma.InputJsonValue | null;
    rateLimits?: Prisma.InputJsonValue | null;
    lastResetAt?: Date | undefined;
    now: Date;
  },
): Promise<void> {
  const fields = {
    enabled: grant.enabled,
    usageLimits: grant.usageLimits === null ? Prisma.DbNull : grant.usageLimits,
    rateLimits: grant.rateLimits === null ? Prisma.DbNull : grant.rateLimits,
    lastResetAt: grant.lastResetAt,
    updatedAt: grant.now,
  };
  await db.integrationWorkspace.upsert({
    where: { integrationId_workspaceId: { integrationId, workspaceId } },
    create: { integrationId, workspaceId, ...fields, createdAt: grant.now },
    update: fields,
  });
}

export function countGrants(db: Database, integrationId: string): Promise<number> {
  return db.integrationWorkspace.count({
    where: { integrationId, enabled: true, workspace: { status: 'active' } },
  });
}

/** Organisation-level integrations that every new workspace gets. */
export async function listGlobalIntegrations(
  db: Database,
  organisationId: string,
): Promise<IntegrationRow[]> {
  const rows = await db.integration.findMany({
    where: {
      organisationId,
      workspaceId: null,
      status: 'active',
      NOT: { globalAccess: { equals: Prisma.DbNull } },
    },
    orderBy: { createdAt: 'asc' },
    take: 1000,
  });
  return rows.filter((row) => (row.globalAccess as { enabled?: boolean } | null)?.enabled === true);
}
