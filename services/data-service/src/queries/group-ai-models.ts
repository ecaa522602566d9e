import type { ClickHouseClient } from '@clickhouse/client';
import type { analytics } from '@sluice/proto-stubs';
import { conditionOf } from './filter.ts';

export interface GroupPage {
  /** Groups in all, not on this page. */
  total: bigint;
  rows: { value: string; requests: bigint; cost: number }[];
}

/** Models as callers asked for them, busiest first. Requests that named none are left out. */
export async function groupByModel(
  client: ClickHouseClient,
  filter: analytics.Filter,
  page: { size: number; index: number },
): Promise<GroupPage> {
  const condition = conditionOf(filter);
  const counted = await client.query({
    query: `
      SELECT uniqExact(model) AS total
      FROM usage_records FINAL
      WHERE ${condition.sql} AND model != ''
      SETTINGS max_execution_time = 20`,
    query_params: condition.params,
    format: 'JSONEachRow',
  });
  const listed = await client.query({
    query: `
      SELECT model AS value, count() AS requests, sumIf(cost_nano_usd, cost_known) / 1e7 AS cost
      FROM usage_records FINAL
      WHERE ${condition.sql} AND model != ''
      GROUP BY model
      ORDER BY requests DESC, value ASC
      LIMIT {page_size:UInt32} OFFSET {page_start:UInt64}
      SETTINGS max_execution_time = 20`,
    query_params: {
      ...condition.params,
      page_size: page.size,
      page_start: page.index * page.size,
    },
    format: 'JSONEachRow',
  });
  const [count] = await counted.json<{ total: string | number }>();
  const rows = await listed.json<{ value: string; requests: string | number; cost: number }>();
  return {
    total: BigInt(count?.total ?? 0),
    rows: rows.map((row) => ({
      value: row.value,
      requests: BigInt(row.requests),
      cost: Number(row.cost),
    })),
  };
}
