import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';

/** An MCP server with all that decides about it, as it is in one workspace. */
export type McpServerRow = Awaited<ReturnType<typeof readMcpServers>>[number];

export type AgentServerRow = Awaited<ReturnType<typeof readAgentServers>>[number];

/** What an integration offers. Resources are known by their address, which is what callers ask for. */
export interface OfferedRow {
  integrationId: string;
  type: string;
  name: string;
  enabled: boolean;
  /** Of a resource its URI, of a template its URI template. */
  address: string | null;
}

const access = { select: { userId: true, enabled: true }, orderBy: { userId: 'asc' } } as const;

/** Ids of the servers of a workspace, in order. */
export async function readServerIds(db: Database, workspaceId: string) {
  const of = { where: { workspaceId }, select: { id: true }, orderBy: { id: 'asc' } } as const;
  const mcpServers = await db.mcpServer.findMany(of);
  const agentServers = await db.agentServer.findMany(of);
  return { mcpServers, agentServers };
}

/** Of these servers those that there are. */
export async function readMcpServers(db: Database, workspaceId: string, ids: readonly string[]) {
  const rows = await db.mcpServer.findMany({
    where: { workspaceId, id: { in: [...ids] } },
    include: {
      integration: {
        include: {
          grants: { where: { workspaceId }, select: { enabled: true } },
          pins: { select: { type: true, name: true, pinnedHash: true, seenHash: true } },
        },
      },
      capabilities: { select: { type: true, name: true, enabled: true, shown: true } },
      userAccess: access,
    },
    orderBy: { id: 'asc' },
  });
  const offered = await readOffered(
    db,
    rows.flatMap(({ integrationId }) => integrationId ?? []),
  );
  return rows.map((row) => ({ ...row, offered: offered.get(row.integrationId ?? '') ?? [] }));
}

/** Without the rest of what is known of them, which may be much. */
async function readOffered(
  db: Database,
  integrationIds: readonly string[],
): Promise<Map<string, OfferedRow[]>> {
  const ids = [...new Set(integrationIds)];
  const rows =
    ids.length === 0
      ? []
      : await db.$queryRaw<OfferedRow[]>(
          Prisma.sql`SELECT integration_id::text AS "integrationId", type, name, enabled,
              CASE type WHEN 'resource' THEN detail->>'uri' WHEN 'resource_template' THEN detail->>'uri_template' END AS address
            FROM mcp_capabilities WHERE integration_id = ANY(${ids}::uuid[])`,
        );
  return Map.groupBy(rows, (row) => row.integrationId);
}

/** Of these servers those that there are. */
export function readAgentServers(db: Database, workspaceId: string, ids: readonly string[]) {
  return db.agentServer.findMany({
    where: { workspaceId, id: { in: [...ids] } },
    include: {
      integration: {
        include: {
          grants: { where: { workspaceId }, select: { enabled: true } },
          skills: { select: { name: true, enabled: true } },
        },
      },
      skills: { select: { name: true, enabled: true } },
      userAccess: access,
    },
    orderBy: { id: 'asc' },
  });
}
