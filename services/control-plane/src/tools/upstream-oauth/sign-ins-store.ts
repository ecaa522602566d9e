import { Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

export interface SignInRow {
  serverId: string;
  userId: string;
  secretId: string;
  sealedAttempt: Uint8Array;
}

/** Of one person at most `keep` are under way; the oldest end. */
export async function insertSignIn(
  db: Database,
  stateHash: Buffer,
  { serverId, userId, secretId, sealedAttempt, expiresAt }: SignInRow & { expiresAt: Date },
  keep: number,
): Promise<void> {
  await db.mcpSignIn.create({
    data: {
      stateHash: bytes(stateHash),
      serverId,
      userId,
      secretId,
      sealedAttempt: new Uint8Array(sealedAttempt),
      expiresAt,
    },
  });
  await db.$executeRaw(Prisma.sql`
    DELETE FROM mcp_sign_ins WHERE state_hash IN (
      SELECT state_hash FROM mcp_sign_ins WHERE user_id = ${userId}::uuid ORDER BY expires_at DESC, state_hash OFFSET ${keep})`);
}

export async function findSignIn(
  db: Database,
  stateHash: Buffer,
  now: Date,
): Promise<SignInRow | undefined> {
  const row = await db.mcpSignIn.findFirst({
    where: { stateHash: bytes(stateHash), expiresAt: { gt: now } },
  });
  return row ?? undefined;
}

/** Whether this call was the one that used it: of several at once one is. */
export async function useSignIn(db: Database, stateHash: Buffer): Promise<boolean> {
  return (await db.mcpSignIn.deleteMany({ where: { stateHash: bytes(stateHash) } })).count > 0;
}

const sweptAtOnce = 2_000;

export async function sweepSignIns(db: Database, now: Date): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    DELETE FROM mcp_sign_ins WHERE state_hash IN (
      SELECT state_hash FROM mcp_sign_ins WHERE expires_at < ${now} ORDER BY expires_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED)`);
}
