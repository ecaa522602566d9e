import type { Database } from '../../kernel/database/client.ts';

export async function findWorkspaceSlug(db: Database, id: string): Promise<string | undefined> {
  const workspace = await db.workspace.findUnique({ where: { id }, select: { slug: true } });
  return workspace?.slug;
}

export async function findOrganisationName(db: Database, id: string): Promise<string | undefined> {
  const organisation = await db.organisation.findUnique({ where: { id }, select: { name: true } });
  return organisation?.name;
}
