import type { Organisation, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

export type OrganisationRow = Organisation;

export function readOrganisation(db: Database, id: string): Promise<OrganisationRow> {
  return db.organisation.findUniqueOrThrow({ where: { id } });
}

export async function countContents(
  db: Database,
  organisationId: string,
): Promise<{ workspaces: number; users: number }> {
  const [workspaces, users] = await Promise.all([
    db.workspace.count({ where: { organisationId, status: 'active' } }),
    db.user.count({ where: { organisationId } }),
  ]);
  return { workspaces, users };
}

export async function updateOrganisation(
  db: Database,
  id: string,
  data: Prisma.OrganisationUncheckedUpdateInput,
): Promise<void> {
  await db.organisation.update({ where: { id }, data });
}

/** What the organisation's active workspaces decided themselves, and from what they are exempt. */
export function listWorkspaceDecisions(db: Database, organisationId: string) {
  return db.workspace.findMany({
    where: { organisationId, status: 'active' },
    select: {
      id: true,
      settings: true,
      skipsInputGuardrails: true,
      skipsOutputGuardrails: true,
    },
    orderBy: { id: 'asc' },
  });
}

export async function updateWorkspaces(
  db: Database,
  ids: readonly string[],
  data: Prisma.WorkspaceUncheckedUpdateManyInput,
): Promise<void> {
  await db.workspace.updateMany({ where: { id: { in: [...ids] } }, data });
}

/** The organisation's own guardrails that these ids or slugs name. */
export function findOrganisationGuardrails(
  db: Database,
  organisationId: string,
  named: { ids: readonly string[]; slugs: readonly string[] },
): Promise<{ id: string; slug: string }[]> {
  return db.guardrail.findMany({
    where: {
      organisationId,
      workspaceId: null,
      status: 'active',
      OR: [{ id: { in: [...named.ids] } }, { slug: { in: [...named.slugs] } }],
    },
    select: { id: true, slug: true },
  });
}
