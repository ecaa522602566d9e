import type { ClickHouseClient } from '@clickhouse/client';

export interface SequenceGaps {
  replicaId: string;
  missing: number;
}

/**
 * Replicas number their records without holes, so a hole is a loss. Looks at
 * the last seven days. Left out are the newest records (others may still be on
 * their way past them) and what precedes the first hour of the range (a record
 * begun before the range may carry a later number than one begun within it).
 */
export async function findSequenceGaps(
  client: ClickHouseClient,
  nowMs: number,
): Promise<SequenceGaps[]> {
  const result = await client.query({
    query: `
      WITH
        fromUnixTimestamp64Milli({now_ms:Int64}, 'UTC') AS now,
        recent AS (
          SELECT replica_id, sequence, created_at, stored_at
          FROM usage_records
          WHERE created_at >= now - INTERVAL 7 DAY AND replica_id != ''
        ),
        bounds AS (
          SELECT replica_id, min(sequence) AS first, maxIf(sequence, stored_at < now - INTERVAL 1 MINUTE) AS last
          FROM recent
          WHERE created_at >= now - INTERVAL 7 DAY + INTERVAL 1 HOUR
          GROUP BY replica_id
          HAVING last > first
        )
      SELECT replica_id, any(last) - any(first) + 1 - uniqExact(sequence) AS missing
      FROM recent
      INNER JOIN bounds USING (replica_id)
      WHERE sequence BETWEEN first AND last
      GROUP BY replica_id
      ORDER BY missing DESC, replica_id
      LIMIT 100
      SETTINGS max_execution_time = 20`,
    query_params: { now_ms: nowMs },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ replica_id: string; missing: string | number }>();
  return rows.map((row) => ({ replicaId: row.replica_id, missing: Number(row.missing) }));
}
