import type { Database } from '../../kernel/database/client.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';

export async function findWorkspaceSlug(db: Database, id: string): Promise<string | undefined> {
  const workspace = await db.workspace.findUnique({ where: { id }, select: { slug: true } });
  return workspace?.slug;
}

export async function findOrganisationName(db: Database, id: string): Promise<string | undefined> {
  const organisation = await db.organisation.findUnique({ where: { id }, select: { name: true } });
  return organisation?.name;
}

/** For how long the organisation keeps logs. */
export async function findKeptDays(db: Database, id: string): Promise<number> {
  const organisation = await db.organisation.findUnique({
    where: { id },
    select: { settings: true },
  });
  return effectiveSettings(organisation?.settings ?? {}).retention.logs_days;
}

export async function listKeptDays(db: Database): Promise<{ id: string; keptDays: number }[]> {
  const organisations = await db.organisation.findMany({ select: { id: true, settings: true } });
  return organisations.map(({ id, settings }) => ({
    id,
    keptDays: effectiveSettings(settings).retention.logs_days,
  }));
}
