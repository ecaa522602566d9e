import type { QueryOf } from '@sluice/contracts/admin';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import type { WorkspaceRow } from '../../kernel/tenancy/find-workspace.ts';

/** All that are active, in a fixed order. */
export function listWorkspaceNames(db: Database, organisationId: string) {
  return db.workspace.findMany({
    where: { organisationId, status: 'active' },
    select: { id: true, slug: true, isDefault: true },
    orderBy: { id: 'asc' },
  });
}

export async function listWorkspaces(
  db: Database,
  scope: { organisationId: string; onlyId: string | undefined },
  query: QueryOf<'workspaces.list'>,
) {
  const where: Prisma.WorkspaceWhereInput = {
    organisationId: scope.organisationId,
    status: { in: query.status ?? ['active'] },
    ...(scope.onlyId === undefined ? {} : { id: scope.onlyId }),
    AND: [
      query.name === undefined ? {} : { name: { contains: literally(query.name) } },
      query.exact_name === undefined ? {} : { name: query.exact_name },
    ],
  };
  const [rows, total] = await Promise.all([
    db.workspace.findMany({
      where,
      include: { userApiKeyConfig: { select: { slug: true } } },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(query),
    }),
    db.workspace.count({ where }),
  ]);
  return { rows, total };
}

export function insertWorkspace(
  db: Database,
  data: Prisma.WorkspaceUncheckedCreateInput,
): Promise<WorkspaceRow> {
  return db.workspace.create({ data });
}

export function updateWorkspace(
  db: Database,
  id: string,
  data: Prisma.WorkspaceUncheckedUpdateInput,
): Promise<WorkspaceRow> {
  return db.workspace.update({ where: { id }, data });
}

/** As they are kept: what is not in them has its default. */
export async function readOrganisationSettings(
  db: Database,
  organisationId: string,
): Promise<unknown> {
  const { settings } = await db.organisation.findUniqueOrThrow({
    where: { id: organisationId },
    select: { settings: true },
  });
  return settings;
}

/** How much of what must go before the workspace may still stands in it. */
export async function countContents(
  db: Database,
  workspaceId: string,
): Promise<Record<string, number>> {
  const where = { workspaceId };
  const kept = { ...where, status: { not: 'archived' } };
  const [prompts, partials, providers, configs, guardrails] = await Promise.all([
    db.prompt.count({ where: kept }),
    db.promptPartial.count({ where: kept }),
    db.provider.count({ where }),
    db.config.count({ where }),
    db.guardrail.count({ where: kept }),
  ]);
  return { prompts, partials, providers, configs, guardrails };
}

/**
 * Removes what goes with its workspace; what tells of its past stays. Returns
 * the ids of the keys that stopped working.
 */
export async function removeContents(
  db: Database,
  workspaceId: string,
  now: Date,
): Promise<string[]> {
  const where = { workspaceId };
  const archived = { status: 'archived', updatedAt: now };
  const keys = await db.apiKey.findMany({ where, select: { id: true } });
  await db.apiKey.deleteMany({ where });
  await db.integration.deleteMany({ where });
  await db.integrationWorkspace.deleteMany({ where });
  await db.mcpServer.deleteMany({ where });
  await db.mcpIntegration.deleteMany({ where });
  await db.mcpIntegrationWorkspace.deleteMany({ where });
  await db.agentServer.deleteMany({ where });
  await db.agentIntegration.deleteMany({ where });
  await db.agentIntegrationWorkspace.deleteMany({ where });
  await db.secretReferenceWorkspace.deleteMany({ where });
  await db.scimWorkspaceGroup.deleteMany({ where });
  await db.rateLimitsPolicy.updateMany({ where: { ...where, status: 'active' }, data: archived });
  await db.usageLimitsPolicy.updateMany({ where: { ...where, status: 'active' }, data: archived });
  return keys.map((key) => key.id);
}

export async function knownUserIds(
  db: Database,
  organisationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await db.user.findMany({
    where: { organisationId, id: { in: [...ids] } },
    select: { id: true },
  });
  return new Set(rows.map((row) => row.id));
}

export async function insertMembers(
  db: Database,
  workspaceId: string,
  users: readonly { id: string; role: string }[],
): Promise<void> {
  await db.workspaceMember.createMany({
    data: users.map((user) => ({ workspaceId, userId: user.id, role: user.role })),
    skipDuplicates: true,
  });
}

export async function activeWorkspaceIds(db: Database, organisationId: string): Promise<string[]> {
  const rows = await db.workspace.findMany({
    where: { organisationId, status: 'active' },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  return rows.map((row) => row.id);
}
