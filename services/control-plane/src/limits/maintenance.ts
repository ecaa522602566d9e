import { periodAt } from '@sluice/engine';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database, DatabaseClient } from '../kernel/database/client.ts';
import { budgetOf } from './usage-limits-policies/budget.ts';

/** Any number will do, as long as every replica uses the same. */
const maintenanceLock = 7_271_640_322;
/** As many groups as gateways tell apart at a time, and one for all the others. */
const groupsMax = 100_001;
/** In one statement: others want these rows too. */
const rowsMax = 5_000;

/**
 * Removes counters whose limit is gone, groups of policies of which nothing was
 * heard in this period and for a week, what one policy has too much of, and
 * resets of periods that are over. One replica at a time; what is left is left
 * to the next run.
 */
export async function maintainLimits(client: DatabaseClient, now: Date): Promise<void> {
  await client.$transaction(
    async (db) => {
      const [lock] = await db.$queryRaw<{ locked: boolean }[]>(
        Prisma.sql`SELECT pg_try_advisory_xact_lock(${maintenanceLock}::bigint) AS locked`,
      );
      if (lock?.locked !== true) return;
      await removeOrphans(db, now);
      await removeWhatIsOver(db, now);
      await removeSurplus(db);
    },
    { maxWait: 5_000, timeout: 60_000 },
  );
}

/** An hour late: what was just made may be reported by one who is ahead. */
async function removeOrphans(db: Database, now: Date): Promise<void> {
  await db.$executeRaw(
    Prisma.sql`WITH live AS (
        SELECT id FROM usage_limits_policies WHERE status = 'active'
        UNION ALL SELECT usage_limit_id FROM api_keys WHERE usage_limit_id IS NOT NULL
        UNION ALL SELECT (usage_limits ->> 'id')::uuid FROM providers WHERE usage_limits IS NOT NULL
        UNION ALL SELECT (each ->> 'id')::uuid FROM workspaces, jsonb_array_elements(usage_limits) AS each
        UNION ALL SELECT (each ->> 'id')::uuid FROM integration_workspaces, jsonb_array_elements(usage_limits) AS each
      )
      DELETE FROM limit_usages WHERE (limit_id, group_id) IN (
        SELECT u.limit_id, u.group_id FROM limit_usages u
        WHERE u.updated_at < ${now}::timestamptz - interval '1 hour'
          AND NOT EXISTS (SELECT 1 FROM live WHERE live.id = u.limit_id)
        LIMIT ${rowsMax})`,
  );
}

async function removeWhatIsOver(db: Database, now: Date): Promise<void> {
  const policies = await db.usageLimitsPolicy.findMany({
    where: { status: 'active', nextUsageResetAt: { not: null } },
  });
  const starts = policies.map((policy) => {
    const { startedAtMs } = periodAt(budgetOf(policy).period, now.getTime());
    return BigInt(startedAtMs);
  });
  const begun = Prisma.sql`unnest(${policies.map(({ id }) => id)}::uuid[], ${starts}::bigint[]) AS begun (id, start)`;
  await db.$executeRaw(
    Prisma.sql`DELETE FROM limit_usages WHERE (limit_id, group_id) IN (
        SELECT u.limit_id, u.group_id FROM limit_usages u JOIN ${begun} ON begun.id = u.limit_id
        WHERE u.period_start_ms < begun.start AND u.updated_at < ${now}::timestamptz - interval '7 days'
        LIMIT ${rowsMax})`,
  );
  await db.$executeRaw(
    Prisma.sql`DELETE FROM usage_limits_resets USING ${begun}
      WHERE policy_id = begun.id AND period_start_ms < begun.start`,
  );
}

/** Of groups that are too many those go of which nothing was heard for longest. */
async function removeSurplus(db: Database): Promise<void> {
  const crowded = await db.$queryRaw<{ limitId: string; surplus: number }[]>(
    Prisma.sql`SELECT limit_id::text AS "limitId", (count(*) - ${groupsMax})::int AS surplus
      FROM limit_usages GROUP BY limit_id HAVING count(*) > ${groupsMax}`,
  );
  for (const { limitId, surplus } of crowded)
    await db.$executeRaw(
      Prisma.sql`DELETE FROM limit_usages WHERE (limit_id, group_id) IN (
          SELECT limit_id, group_id FROM limit_usages WHERE limit_id = ${limitId}::uuid
          ORDER BY updated_at LIMIT ${surplus})`,
    );
}
