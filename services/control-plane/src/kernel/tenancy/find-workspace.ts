import type { Workspace } from '../../generated/prisma/client.ts';
import type { Database } from '../database/client.ts';
import { isUuid } from '../names/ids.ts';

export type WorkspaceRow = Workspace;

/** An active workspace of the organisation, by UUID or slug. */
export function findWorkspace(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<WorkspaceRow | null> {
  return db.workspace.findFirst({
    where: {
      organisationId,
      status: 'active',
      ...named(reference),
    },
  });
}

/** Of any status, by UUID or slug. */
export async function findWorkspaceId(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<string | undefined> {
  const workspace = await db.workspace.findFirst({
    where: { organisationId, ...named(reference) },
    select: { id: true },
  });
  return workspace?.id;
}

function named(reference: string) {
  return isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference };
}

/** Archived ones too. */
export function findWorkspaceOfAnyStatus(db: Database, organisationId: string, reference: string) {
  return db.workspace.findFirst({
    where: {
      organisationId,
      ...named(reference),
    },
    include: {
      organisation: { select: { settings: true } },
      userApiKeyConfig: true,
      members: { include: { user: true }, orderBy: { createdAt: 'asc' }, take: 1000 },
    },
  });
}

export function findDefaultWorkspace(
  db: Database,
  organisationId: string,
): Promise<WorkspaceRow | null> {
  return db.workspace.findFirst({ where: { organisationId, isDefault: true, status: 'active' } });
}
