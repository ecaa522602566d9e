import type { Database } from '../database/client.ts';
import { isUuid } from '../database/ids.ts';

export interface MappedReference {
  id: string;
  status: string;
  allowAllWorkspaces: boolean;
  /** The workspace asked about, if the reference is open to it by name. */
  workspaces: { workspaceId: string }[];
}

/** A reference of the organisation, by UUID or slug, with what decides who may use it. */
export async function findMappedReference(
  db: Database,
  organisationId: string,
  reference: string,
  workspaceId: string | null,
): Promise<MappedReference | null> {
  const find = (where: { id: string } | { slug: string }) =>
    db.secretReference.findFirst({
      where: { organisationId, ...where },
      select: {
        id: true,
        status: true,
        allowAllWorkspaces: true,
        workspaces: {
          where: workspaceId === null ? { workspaceId: { in: [] } } : { workspaceId },
          select: { workspaceId: true },
        },
      },
    });
  const byId = isUuid(reference) ? await find({ id: reference.toLowerCase() }) : null;
  return byId ?? (await find({ slug: reference }));
}
