import type { ClickHouseClient } from '@clickhouse/client';
import type { analytics } from '@sluice/proto-stubs';
import { bucketStarts, bucketWidthMs } from './buckets.ts';
import { conditionOf, rangeOf } from './filter.ts';

/**
 * A graph's figures: each an aggregate over the rows of a bucket, and the same
 * over the whole range for the summary. An aggregate of no rows must be 0.
 */
export type Figures = Readonly<Record<string, string>>;

export interface GraphData {
  summary: Record<string, number>;
  dataPoints: { timestampMs: bigint; values: Record<string, number> }[];
}

/** One scan gives the buckets and, as the grouping set without a column, the summary. */
export async function queryGraph(
  client: ClickHouseClient,
  figures: Figures,
  filter: analytics.Filter,
): Promise<GraphData> {
  const condition = conditionOf(filter);
  const range = rangeOf(filter);
  const widthMs = bucketWidthMs(range);
  const columns = Object.entries(figures).map(([name, sql]) => `${sql} AS ${name}`);
  const result = await client.query({
    query: `
      SELECT intDiv(toUnixTimestamp64Milli(created_at), {width_ms:Int64}) AS bucket,
             grouping(bucket) AS is_summary,
             ${columns.join(',\n             ')}
      FROM usage_records FINAL
      WHERE ${condition.sql}
      GROUP BY GROUPING SETS ((bucket), ())
      SETTINGS max_execution_time = 20`,
    query_params: { ...condition.params, width_ms: widthMs },
    format: 'JSONEachRow',
  });
  const rows = await result.json<Record<string, string | number>>();

  const valuesOf = (row: Record<string, string | number> | undefined) =>
    Object.fromEntries(Object.keys(figures).map((name) => [name, Number(row?.[name] ?? 0)]));
  // grouping() is 1 where the column was grouped away.
  const summary = valuesOf(rows.find((row) => Number(row.is_summary) === 1));
  const byStart = new Map(
    rows
      .filter((row) => Number(row.is_summary) === 0)
      .map((row) => [Number(row.bucket) * widthMs, row]),
  );
  return {
    summary,
    dataPoints: bucketStarts(range, widthMs).map((start) => ({
      timestampMs: BigInt(start),
      values: valuesOf(byStart.get(start)),
    })),
  };
}
