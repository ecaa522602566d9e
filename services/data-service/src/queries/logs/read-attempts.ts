import type { ClickHouseClient } from '@clickhouse/client';
import type { usage } from '@sluice/proto-stubs';
import type { Parameters } from '../parameters.ts';
import { recordOfRow, rowSettings, type StoredRow } from './record-of-row.ts';

export const attemptsMax = 1000;

/** The attempts that the conditions admit, in the order in which they began, and whether there are more. */
export async function readAttempts(
  client: ClickHouseClient,
  conditions: readonly string[],
  parameters: Parameters,
): Promise<{ attempts: usage.UsageRecord[]; isCutOff: boolean }> {
  const where = conditions.join(' AND ');
  const result = await client.query({
    // Where they are is found without FINAL, by indexes that it would not look at.
    query: `SELECT * FROM usage_records FINAL
      WHERE ${where} AND created_at IN (SELECT created_at FROM usage_records WHERE ${where})
      ORDER BY UUIDv7ToDateTime(id, 'UTC'), replica_id, sequence
      LIMIT ${attemptsMax + 1}
      ${rowSettings}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<StoredRow>();
  return {
    attempts: rows.slice(0, attemptsMax).map(recordOfRow),
    isCutOff: rows.length > attemptsMax,
  };
}
