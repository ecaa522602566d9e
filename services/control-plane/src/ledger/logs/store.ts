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

export interface Retention {
  readonly logsDays: number;
  readonly figuresDays: number;
}

/** For how long organisations keep logs and figures, and those that are not named. */
export async function findRetention(
  db: Database,
): Promise<{ organisations: Record<string, Retention>; others: Retention }> {
  const rows = await db.organisation.findMany({ select: { id: true, settings: true } });
  const others = retentionIn({});
  const days = rows.map(({ id, settings }): [string, Retention] => [id, retentionIn(settings)]);
  // Few have days of their own.
  const own = days.filter(
    ([, { logsDays, figuresDays }]) =>
      logsDays !== others.logsDays || figuresDays !== others.figuresDays,
  );
  return { organisations: Object.fromEntries(own), others };
}

/** For how many days each organisation keeps figures; the ledger keeps them no shorter than logs. */
export async function listFiguresDays(db: Database): Promise<{ id: string; days: number }[]> {
  const rows = await db.organisation.findMany({ select: { id: true, settings: true } });
  return rows.map(({ id, settings }) => {
    const { logsDays, figuresDays } = retentionIn(settings);
    return { id, days: Math.max(logsDays, figuresDays) };
  });
}

function retentionIn(settings: Parameters<typeof effectiveSettings>[0]): Retention {
  const { logs_days: logsDays, figures_days: figuresDays } = effectiveSettings(settings).retention;
  return { logsDays, figuresDays };
}
