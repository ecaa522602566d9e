import type { Page } from '@sluice/contracts/admin';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged, pageOf } from '../../kernel/http/shapes.ts';
import type { RegistryKind } from './registry-kind.ts';

/** Whether an integration may be used in a workspace. */
export async function isOpenTo(
  db: Database,
  kind: RegistryKind,
  integration: { id: string; workspaceId: string | null },
  workspaceId: string,
): Promise<boolean> {
  if (integration.workspaceId !== null) return integration.workspaceId === workspaceId;
  const grant = await kind.tables(db).grants.findUnique({
    where: { integrationId_workspaceId: { integrationId: integration.id, workspaceId } },
  });
  return grant?.enabled === true;
}

export async function listGrants(
  db: Database,
  kind: RegistryKind,
  integration: { id: string; workspaceId: string | null; createdAt: Date },
  workspaceId: string | undefined,
  page: Page,
) {
  if (integration.workspaceId !== null)
    return ownGrant(db, integration, integration.workspaceId, page);
  const where = {
    integrationId: integration.id,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    workspace: { status: 'active' },
  };
  const { grants } = kind.tables(db);
  const [rows, total] = await Promise.all([
    grants.findMany({
      where,
      include: { workspace: { select: { slug: true } } },
      orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }],
      ...paged(page),
    }),
    grants.count({ where }),
  ]);
  return { rows, total };
}

/** What belongs to a workspace is open there as long as it is there. */
async function ownGrant(
  db: Database,
  { id, createdAt }: { id: string; createdAt: Date },
  workspaceId: string,
  page: Page,
) {
  const workspace = await db.workspace.findFirst({
    where: { id: workspaceId, status: 'active' },
    select: { slug: true },
  });
  const all =
    workspace === null
      ? []
      : [
          {
            integrationId: id,
            workspaceId,
            enabled: true,
            createdAt,
            updatedAt: createdAt,
            workspace,
          },
        ];
  return { rows: pageOf(all, page), total: all.length };
}

export type GrantRow = Awaited<ReturnType<typeof listGrants>>['rows'][number];

/** Opens the integration to these workspaces, or closes it where it was open. */
export async function setGrants(
  db: Database,
  kind: RegistryKind,
  integrationId: string,
  workspaceIds: readonly string[],
  grant: { enabled: boolean; now: Date },
): Promise<void> {
  const { grants } = kind.tables(db);
  const { enabled, now } = grant;
  const ids = [...workspaceIds];
  await grants.updateMany({
    where: { integrationId, workspaceId: { in: ids }, enabled: !enabled },
    data: { enabled, updatedAt: now },
  });
  await grants.createMany({
    data: ids.map((workspaceId) => ({
      integrationId,
      workspaceId,
      enabled,
      createdAt: now,
      updatedAt: now,
    })),
    skipDuplicates: true,
  });
}

/** Opens to a new workspace what the organisation opens to every one. */
export async function grantGlobalAccess(
  db: Database,
  kinds: readonly RegistryKind[],
  workspace: { id: string; organisationId: string },
  now: Date,
): Promise<void> {
  for (const kind of kinds) {
    const integrations = await kind.tables(db).integrationIds.findMany({
      where: {
        organisationId: workspace.organisationId,
        workspaceId: null,
        status: 'active',
        globalAccess: { path: ['enabled'], equals: true },
      },
      select: { id: true },
    });
    for (const { id } of integrations)
      await setGrants(db, kind, id, [workspace.id], { enabled: true, now });
  }
}

/** Of an integration's column: null takes the setting back. */
export function globalAccessColumn(access: { enabled?: boolean | undefined } | null | undefined) {
  if (access === undefined) return undefined;
  return access === null ? Prisma.DbNull : { enabled: access.enabled ?? false };
}
