import { Prisma } from '../../generated/prisma/client.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { fromDatabase } from '../../kernel/database/faults.ts';

/** What is asked of the ledger meanwhile ends sooner, whether or not it answers. */
const patience = { maxWait: 10_000, timeout: 45_000 };
const adjustmentLocks = 727_164_101;

/** One after the other, over all replicas, of an organisation. No change of it waits: what is held is no row. */
export function inOrder<T>(
  client: DatabaseClient,
  organisationId: string,
  work: () => Promise<T>,
): Promise<T> {
  return client
    .$transaction(async (db) => {
      await db.$queryRaw(
        Prisma.sql`SELECT 1 AS held FROM pg_advisory_xact_lock(${adjustmentLocks}::int, hashtext(${organisationId}))`,
      );
      return work();
    }, patience)
    .catch((error: unknown) => {
      throw fromDatabase(error);
    });
}
