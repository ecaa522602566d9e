import type { ClickHouseClient } from '@clickhouse/client';
import { textLiteral } from '../queries/parameters.ts';

/** Traces that are looked for at once. */
const tracesMax = 1000;

/**
 * Marks the minutes of what feedback is about as changed, after it was stored: it names a trace, and no view could find its
 * attempts without reading all of them.
 */
export async function markJudged(
  client: ClickHouseClient,
  feedbacks: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  for (const [organisation, rows] of Map.groupBy(feedbacks, (row) => String(row.organisation_id))) {
    const traces = [...new Set(rows.map((row) => String(row.trace_id)))].filter((id) => id !== '');
    for (let from = 0; from < traces.length; from += tracesMax)
      await client.command({
        query: `
          INSERT INTO usage_changes
          SELECT organisation_id, toUInt32(intDiv(toUnixTimestamp64Milli(created_at), 60000)) AS minute, max(now64(3, 'UTC')) AS changed_at
          FROM usage_records
          WHERE organisation_id = ${textLiteral(organisation)}
            AND trace_id IN (${traces
              .slice(from, from + tracesMax)
              .map(textLiteral)
              .join(',')})
          GROUP BY organisation_id, minute`,
      });
  }
}
