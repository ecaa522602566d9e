import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { CountedUsage } from '../usage/counted-usage.ts';
import type { ReportedCounter } from './read-reports.ts';

/** A counter with the organisation whose it is. */
export type KnownCounter = ReportedCounter & { readonly organisationId: string };

const shared = 'shared';

/** Counts so much older than the one that is kept are no late ones: the clock of the counters went back. */
const lateUs = 60_000_000;

/**
 * Keeps what a gateway said, and adds up what all have said. Of the shared counter
 * several tell, in whatever order: in one epoch the newest count is kept. Of a gateway
 * that does not say when it counted, and after the clock went back, it is the greatest. A gateway that
 * tells of the shared one has put what it counted alone into that.
 */
export async function putCounters(
  db: Database,
  counters: readonly KnownCounter[],
  { replicaId, isShared, now }: { replicaId: string; isShared: boolean; now: Date },
): Promise<CountedUsage[]> {
  const column = <Value>(read: (counter: KnownCounter) => Value) => counters.map(read);
  const limits = column(({ limitId }) => limitId);
  const groups = column(({ groupId }) => groupId);
  const pairs = Prisma.sql`unnest(${limits}::uuid[], ${groups}::uuid[]) AS pair (limit_id, group_id)`;
  const source = isShared ? shared : replicaId;
  const isOfOneEpoch = Prisma.sql`excluded.source = ${shared} AND excluded.generation = kept.generation
    AND excluded.period_start_ms = kept.period_start_ms`;
  await db.$executeRaw(
    Prisma.sql`INSERT INTO limit_usages (limit_id, group_id, organisation_id, value_key, generation, period_start_ms,
        posted, reserved, overshoot_bound, created_at, updated_at)
      SELECT told.*, 0, 0, 0, 0, 0, ${now}, ${now}
      FROM unnest(${limits}::uuid[], ${groups}::uuid[], ${column(({ organisationId }) => organisationId)}::uuid[],
        ${column(({ valueKey }) => valueKey)}::text[]) AS told (limit_id, group_id, organisation_id, value_key)
      ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
  );
  await db.$executeRaw(
    Prisma.sql`SELECT 1 FROM limit_usages JOIN ${pairs} USING (limit_id, group_id)
      ORDER BY limit_id, group_id FOR UPDATE OF limit_usages`,
  );
  if (isShared)
    await db.$executeRaw(
      Prisma.sql`DELETE FROM limit_counters USING ${pairs}
        WHERE limit_counters.limit_id = pair.limit_id AND limit_counters.group_id = pair.group_id
          AND limit_counters.source = ${replicaId}`,
    );
  await db.$executeRaw(
    Prisma.sql`INSERT INTO limit_counters AS kept
        (limit_id, group_id, generation, period_start_ms, posted, reserved, overshoot_bound, counted_at_us, source, reported_at)
      SELECT told.*, ${source}, ${now}
      FROM unnest(${limits}::uuid[], ${groups}::uuid[], ${column(({ generation }) => generation)}::bigint[],
        ${column(({ periodStartMs }) => periodStartMs)}::bigint[], ${column(({ posted }) => posted)}::bigint[],
        ${column(({ reserved }) => reserved)}::bigint[], ${column(({ overshootBound }) => overshootBound)}::bigint[],
        ${column(({ countedAtUs }) => countedAtUs)}::bigint[])
        AS told (limit_id, group_id, generation, period_start_ms, posted, reserved, overshoot_bound, counted_at_us)
      ON CONFLICT (limit_id, group_id, source) DO UPDATE SET
        generation = excluded.generation, period_start_ms = excluded.period_start_ms,
        posted = CASE WHEN ${isOfOneEpoch} AND (excluded.counted_at_us = 0 OR excluded.counted_at_us < kept.counted_at_us)
          THEN greatest(excluded.posted, kept.posted) ELSE excluded.posted END,
        counted_at_us = CASE WHEN ${isOfOneEpoch}
          THEN greatest(excluded.counted_at_us, kept.counted_at_us) ELSE excluded.counted_at_us END,
        reserved = excluded.reserved, overshoot_bound = excluded.overshoot_bound, reported_at = excluded.reported_at
      WHERE (excluded.period_start_ms, excluded.generation) >= (kept.period_start_ms, kept.generation)
        AND NOT (${isOfOneEpoch} AND excluded.counted_at_us > 0
          AND excluded.counted_at_us < kept.counted_at_us AND excluded.counted_at_us > kept.counted_at_us - ${lateUs})`,
  );
  return db.$queryRaw<CountedUsage[]>(
    Prisma.sql`UPDATE limit_usages AS used SET
        generation = summed.generation, period_start_ms = summed.period_start_ms, posted = summed.posted,
        reserved = summed.reserved, overshoot_bound = summed.overshoot_bound, updated_at = ${now},
        threshold_alert_sent = used.threshold_alert_sent
          AND (used.period_start_ms, used.generation) = (summed.period_start_ms, summed.generation),
        exhausted_alert_sent = used.exhausted_alert_sent
          AND (used.period_start_ms, used.generation) = (summed.period_start_ms, summed.generation)
      FROM (
        SELECT c.limit_id, c.group_id, c.generation, c.period_start_ms, sum(c.posted)::bigint AS posted,
          sum(c.reserved)::bigint AS reserved, sum(c.overshoot_bound)::bigint AS overshoot_bound,
          row_number() OVER (PARTITION BY c.limit_id, c.group_id ORDER BY c.period_start_ms DESC, c.generation DESC) AS place
        FROM limit_counters c JOIN ${pairs} USING (limit_id, group_id)
        GROUP BY c.limit_id, c.group_id, c.period_start_ms, c.generation
      ) AS summed
      WHERE summed.place = 1 AND used.limit_id = summed.limit_id AND used.group_id = summed.group_id
        AND (summed.period_start_ms, summed.generation) >= (used.period_start_ms, used.generation)
      RETURNING used.limit_id::text AS "limitId", used.group_id::text AS "groupId", used.value_key AS "valueKey",
        used.generation, used.period_start_ms AS "periodStartMs", used.posted,
        used.threshold_alert_sent AS "thresholdAlertSent", used.exhausted_alert_sent AS "exhaustedAlertSent"`,
  );
}
