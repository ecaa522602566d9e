import type { ClickHouseClient } from '@clickhouse/client';
import { textLiteral } from '../queries/parameters.ts';
import { settledAfterMs } from '../seals/days.ts';
import type { UsageRow } from './column-values.ts';

/** In one question: ids and times stand in its text. */
const rowsPerQuestion = 1500;

/**
 * Records without those of old requests that the ledger has already. A copy of a young one changes nothing; that of an
 * old one would take the place of a record that is sealed, with a later time at which it was stored. What is known
 * better than before, the end of an attempt that counted as lost, is no copy.
 */
export async function withoutStoredCopies(
  client: ClickHouseClient,
  rows: readonly UsageRow[],
  nowMs: number,
): Promise<readonly UsageRow[]> {
  const youngFrom = new Date(nowMs - settledAfterMs).toISOString().replace('T', ' ');
  const old = rows.filter((row) => String(row.created_at) < youngFrom);
  if (old.length === 0) return rows;
  const stored = new Map<string, number>();
  for (let first = 0; first < old.length; first += rowsPerQuestion)
    for (const [id, certainty] of await storedAmong(
      client,
      old.slice(first, first + rowsPerQuestion),
    ))
      stored.set(id, certainty);
  return rows.filter(
    (row) => (stored.get(String(row.id)) ?? -1) < (row.outcome === 'lost' ? 0 : 1),
  );
}

async function storedAmong(
  client: ClickHouseClient,
  rows: readonly UsageRow[],
): Promise<[string, number][]> {
  const distinct = (column: string) =>
    [...new Set(rows.map((row) => textLiteral(String(row[column]))))].join(',');
  const result = await client.query({
    query: `SELECT toString(id) AS row_id, toString(max(certainty)) AS best
      FROM usage_records
      WHERE organisation_id IN (${distinct('organisation_id')}) AND workspace_id IN (${distinct('workspace_id')})
        AND created_at IN (${distinct('created_at')}) AND id IN (${distinct('id')})
      GROUP BY id`,
    format: 'JSONEachRow',
  });
  const found = await result.json<{ row_id: string; best: string }>();
  return found.map(({ row_id, best }) => [row_id, Number(best)]);
}
