import type { Database } from '../database/client.ts';

/** Every workspace that something of the organisation can be opened to. */
export function listActiveWorkspaces(
  db: Database,
  organisationId: string,
): Promise<{ id: string; slug: string }[]> {
  return db.workspace.findMany({
    where: { organisationId, status: 'active' },
    select: { id: true, slug: true },
    orderBy: { id: 'asc' },
  });
}
