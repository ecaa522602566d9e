import type { Page } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';

/** Who has signed in at the server behind; all, or one user. */
export async function listConnections(
  db: Database,
  serverId: string,
  userId: string | undefined,
  page: Page,
) {
  const where = { serverId, userId };
  const [rows, total] = await Promise.all([
    db.mcpConnection.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { userId: 'desc' }],
      ...paged(page),
    }),
    db.mcpConnection.count({ where }),
  ]);
  return {
    rows: rows.map(({ sealedTokens, ...row }) => ({ ...row, connected: sealedTokens !== null })),
    total,
  };
}

/** Which of these users have signed in. */
export async function connectedUsers(
  db: Database,
  serverId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.mcpConnection.findMany({
    where: { serverId, userId: { in: [...userIds] }, sealedTokens: { not: null } },
    select: { userId: true },
  });
  return new Set(rows.map((row) => row.userId));
}

export async function removeConnections(
  db: Database,
  serverId: string,
  userId: string,
): Promise<number> {
  return (await db.mcpConnection.deleteMany({ where: { serverId, userId } })).count;
}
