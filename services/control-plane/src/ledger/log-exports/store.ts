import type { Page } from '@sluice/contracts/admin';
import type { LogExport, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

export type LogExportRow = LogExport;

export function findLogExport(db: Database, id: string): Promise<LogExportRow | null> {
  return db.logExport.findUnique({ where: { id } });
}

export async function listLogExports(
  db: Database,
  where: {
    organisationId: string;
    workspaceId: string | undefined;
    createdBy: string | undefined;
  },
  page: Page,
): Promise<{ rows: LogExportRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    db.logExport.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.logExport.count({ where }),
  ]);
  return { rows, total };
}

export function insertLogExport(
  db: Database,
  data: Prisma.LogExportUncheckedCreateInput,
): Promise<LogExportRow> {
  return db.logExport.create({ data });
}

export function updateLogExport(
  db: Database,
  id: string,
  data: Prisma.LogExportUncheckedUpdateInput,
): Promise<LogExportRow> {
  return db.logExport.update({ where: { id }, data });
}

/** The settings of the organisation and, when one is meant, of the workspace, as they are kept. */
export async function findSettings(
  db: Database,
  organisationId: string,
  workspaceId: string | undefined,
): Promise<{ organisation: unknown; workspace: unknown }> {
  const settings = { select: { settings: true } } as const;
  const [organisation, workspace] = await Promise.all([
    db.organisation.findUniqueOrThrow({ where: { id: organisationId }, ...settings }),
    workspaceId === undefined
      ? undefined
      : db.workspace.findUniqueOrThrow({ where: { id: workspaceId }, ...settings }),
  ]);
  return { organisation: organisation.settings, workspace: workspace?.settings };
}
