import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { Cursor } from './cursor.ts';

/** A server that can be called: it, its integration, its workspace and the grant are all active. */
export interface ListedServer {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  workspaceSlug: string;
  version: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface RegistryFilter {
  organisationId: string;
  workspaceId: string | undefined;
  /** A part of the name under which a server is listed. */
  search: string | undefined;
  updatedSince: Date | undefined;
  after: Cursor | undefined;
}

/**
 * Whether the integration `i` of the server `s` serves its workspace, where `g` is what it grants that workspace. A merged
 * server has no integration.
 */
export const openIntegration = Prisma.sql`(i.id IS NULL OR (i.status = 'active'
  AND (i.workspace_id = s.workspace_id OR (i.workspace_id IS NULL AND g.enabled))))`;

/** The newest servers first; not more than `take`. */
export function listRegistered(
  db: Database,
  filter: RegistryFilter,
  namespace: string,
  take: number,
): Promise<ListedServer[]> {
  const { workspaceId, search, updatedSince, after } = filter;
  const conditions = [
    Prisma.sql`s.organisation_id = ${filter.organisationId}::uuid`,
    Prisma.sql`s.status = 'active' AND w.status = 'active'`,
    openIntegration,
  ];
  if (workspaceId !== undefined) conditions.push(Prisma.sql`s.workspace_id = ${workspaceId}::uuid`);
  if (search !== undefined)
    conditions.push(
      Prisma.sql`position(lower(${search}) IN lower(${namespace} || '.' || replace(w.slug, '_', '-') || '/' || s.slug)) > 0`,
    );
  if (updatedSince !== undefined)
    conditions.push(Prisma.sql`GREATEST(s.updated_at, i.updated_at) >= ${updatedSince}`);
  if (after !== undefined)
    conditions.push(Prisma.sql`(s.created_at, s.id) < (${after.createdAt}, ${after.id}::uuid)`);
  return db.$queryRaw<ListedServer[]>(Prisma.sql`
    SELECT s.id, s.slug, s.name, s.description, w.slug AS "workspaceSlug",
      i.server_version AS version, s.created_at AS "createdAt",
      GREATEST(s.updated_at, i.updated_at) AS "updatedAt"
    FROM mcp_servers s
    LEFT JOIN mcp_integrations i ON i.id = s.integration_id
    JOIN workspaces w ON w.id = s.workspace_id
    LEFT JOIN mcp_integration_workspaces g
      ON g.integration_id = i.id AND g.workspace_id = s.workspace_id
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY s.created_at DESC, s.id DESC
    LIMIT ${take}`);
}
