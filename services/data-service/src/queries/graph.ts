import type { ClickHouseClient } from '@clickhouse/client';
import type { analytics } from '@sluice/proto-stubs';
import { ask, partialsBy, type Row } from './ask.ts';
import { bucketStarts, bucketWidthMs } from './buckets.ts';
import type { Figures } from './figures.ts';
import { conditionOf, rangeOf } from './filter.ts';
import { partials, partialsIn } from './partials.ts';

export interface GraphData {
  summary: Record<string, number>;
  dataPoints: { timestampMs: bigint; values: Record<string, number> }[];
}

/** One question gives the buckets and, as the grouping set without a column, the summary. */
export async function queryGraph(
  client: ClickHouseClient,
  figures: Figures,
  filter: analytics.Filter,
): Promise<GraphData> {
  const condition = conditionOf(filter);
  const range = rangeOf(filter);
  const widthMs = bucketWidthMs(range);
  const names = partialsIn(Object.values(figures));
  const bucket = {
    of: ['created_at'],
    sql: `intDiv(toUnixTimestamp64Milli(created_at), ${widthMs})`,
  } as const;
  const merged = names.map((name) => `${partials[name].merge(name)} AS ${name}`);
  const shown = Object.entries(figures).map(([name, sql]) => `toFloat64(${sql}) AS ${name}`);
  const rows = await ask(
    client,
    `SELECT key, is_summary, ${shown.join(', ')}
    FROM (
      SELECT key, grouping(key) AS is_summary, ${merged.join(', ')}
      FROM ${partialsBy(bucket, condition, names)}
      GROUP BY GROUPING SETS ((key), ())
    )`,
    condition,
  );

  const valuesOf = (row: Row | undefined) =>
    Object.fromEntries(Object.keys(figures).map((name) => [name, Number(row?.[name] ?? 0)]));
  // grouping() is 1 where the column was grouped away.
  const summary = valuesOf(rows.find((row) => Number(row.is_summary) === 1));
  const byStart = new Map(
    rows
      .filter((row) => Number(row.is_summary) === 0)
      .map((row) => [Number(row.key) * widthMs, row]),
  );
  return {
    summary,
    dataPoints: bucketStarts(range, widthMs).map((start) => ({
      timestampMs: BigInt(start),
      values: valuesOf(byStart.get(start)),
    })),
  };
}
