import { Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { newId } from '../../kernel/names/ids.ts';

/** Whose sign-in, and where. */
export interface ConnectionId {
  readonly serverId: string;
  readonly userId: string;
}

export interface ConnectionRow {
  sealedTokens: Uint8Array | null;
  fingerprint: Uint8Array | null;
  renewsAt: Date | null;
  expiresAt: Date | null;
  scope: string | null;
  wantedScope: string | null;
  /** Tells one set of tokens from another. */
  updatedAt: Date;
}

/** What stands beside the sealed tokens. */
export interface ConnectionColumns {
  readonly sealedTokens: Buffer;
  readonly fingerprint: Buffer;
  readonly renewsAt: Date;
  readonly expiresAt: Date;
  readonly scope: string | null;
}

export async function findConnection(
  db: Database,
  { serverId, userId }: ConnectionId,
): Promise<ConnectionRow | undefined> {
  const where = { serverId_userId: { serverId, userId } };
  return (await db.mcpConnection.findUnique({ where })) ?? undefined;
}

/** Who is signed in at the servers of an integration, or at one of them. */
export function listConnected(
  db: Database,
  integrationId: string,
  serverId: string | undefined,
  take: number,
): Promise<ConnectionId[]> {
  return db.mcpConnection.findMany({
    where: { serverId, server: { integrationId }, sealedTokens: { not: null } },
    select: { serverId: true, userId: true },
    orderBy: [{ serverId: 'asc' }, { userId: 'asc' }],
    take,
  });
}

/** After a sign-in. What there was before is replaced. */
export async function putConnection(
  db: Database,
  { serverId, userId }: ConnectionId,
  columns: ConnectionColumns,
  now: Date,
): Promise<void> {
  const row = { ...asBytes(columns), wantedScope: null, updatedAt: now };
  await db.mcpConnection.upsert({
    where: { serverId_userId: { serverId, userId } },
    create: { serverId, userId, ...row, createdAt: now },
    update: row,
  });
}

/** After a renewal. False: they have signed out meanwhile, or in anew. */
export async function renewConnection(
  db: Database,
  { serverId, userId }: ConnectionId,
  before: ConnectionRow,
  columns: ConnectionColumns,
  now: Date,
): Promise<boolean> {
  const { count } = await db.mcpConnection.updateMany({
    where: { serverId, userId, updatedAt: before.updatedAt, sealedTokens: { not: null } },
    data: { ...asBytes(columns), updatedAt: now },
  });
  return count > 0;
}

/** What is held of a user works no more; that they were signed in stays known. False: it is not what is held now. */
export async function emptyConnection(
  db: Database,
  { serverId, userId }: ConnectionId,
  before: ConnectionRow,
  now: Date,
): Promise<boolean> {
  const { count } = await db.mcpConnection.updateMany({
    where: { serverId, userId, updatedAt: before.updatedAt, sealedTokens: { not: null } },
    data: { sealedTokens: null, renewsAt: null, expiresAt: null, updatedAt: now },
  });
  return count > 0;
}

export async function noteWantedScope(
  db: Database,
  { serverId, userId }: ConnectionId,
  wantedScope: string,
): Promise<void> {
  await db.mcpConnection.updateMany({ where: { serverId, userId }, data: { wantedScope } });
}

function asBytes(columns: ConnectionColumns) {
  const { sealedTokens, fingerprint, ...row } = columns;
  return { ...row, sealedTokens: bytes(sealedTokens), fingerprint: bytes(fingerprint) };
}

/** Gateways that hold these keys ask anew for what they hold of this user. @returns the keys */
export async function markKeys(
  db: Database,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(
    Prisma.sql`UPDATE api_keys SET sign_in_mark = ${newId()}::uuid
      WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid AND type = 'workspace-user'
      RETURNING id::text`,
  );
  return rows.map(({ id }) => id);
}

/** Whether this transaction is the one that renews it, of all replicas'. */
export async function takeConnectionLock(
  db: Database,
  { serverId, userId }: ConnectionId,
): Promise<boolean> {
  const [row] = await db.$queryRaw<{ taken: boolean }[]>(
    Prisma.sql`SELECT pg_try_advisory_xact_lock(${connectionLocks}::int, hashtext(${`${serverId}/${userId}`})) AS taken`,
  );
  return row?.taken === true;
}

const connectionLocks = 727_164_093;

/** The server, and what it is made of. */
export async function findServer(db: Database, id: string) {
  const server = await db.mcpServer.findUnique({
    where: { id },
    select: {
      id: true,
      slug: true,
      name: true,
      organisationId: true,
      workspaceId: true,
      integration: true,
    },
  });
  if (server?.integration == null) return undefined;
  return { ...server, integration: server.integration };
}

export type SignedInServer = NonNullable<Awaited<ReturnType<typeof findServer>>>;
