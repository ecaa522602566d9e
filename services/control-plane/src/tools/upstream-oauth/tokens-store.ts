import { Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

export interface TokenRow {
  integrationId: string;
  sealedToken: Uint8Array;
  fingerprint: Uint8Array;
  renewsAt: Date;
  expiresAt: Date;
}

export async function findToken(
  db: Database,
  integrationId: string,
): Promise<TokenRow | undefined> {
  return (await db.mcpIntegrationToken.findUnique({ where: { integrationId } })) ?? undefined;
}

export async function saveToken(db: Database, { integrationId, ...row }: TokenRow): Promise<void> {
  await db.mcpIntegrationToken.upsert({
    where: { integrationId },
    create: { integrationId, ...row, ...asBytes(row) },
    update: { ...row, ...asBytes(row) },
  });
}

function asBytes({ sealedToken, fingerprint }: Omit<TokenRow, 'integrationId'>) {
  return {
    sealedToken: bytes(Buffer.from(sealedToken)),
    fingerprint: bytes(Buffer.from(fingerprint)),
  };
}

/** Whether this transaction is the one that asks for it, of all replicas'. */
export async function takeTokenLock(db: Database, integrationId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ taken: boolean }[]>(
    Prisma.sql`SELECT pg_try_advisory_xact_lock(${tokenLocks}::int, hashtext(${integrationId})) AS taken`,
  );
  return row?.taken === true;
}

const tokenLocks = 727_164_087;
