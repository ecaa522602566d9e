import type { ClickHouseClient } from '@clickhouse/client';
import type { analytics } from '@sluice/proto-stubs';
import { ask, type Key, partialsBy } from './ask.ts';
import { conditionOf } from './filter.ts';
import { partials, partialsIn } from './partials.ts';

export interface GroupPage {
  /** Groups in all, not on this page. */
  total: bigint;
  rows: { value: string; requests: bigint; cost: number }[];
}

/** Models as callers asked for them. Requests that named none are left out. */
export const byModel: Key = { of: ['model'], sql: 'model' };

/** Groups, busiest first. */
export async function queryGroups(
  client: ClickHouseClient,
  key: Key,
  filter: analytics.Filter,
  page: { size: number; index: number },
): Promise<GroupPage> {
  const condition = conditionOf(filter);
  const names = partialsIn(['requests', 'cost']);
  const merged = names.map((name) => `${partials[name].merge(name)} AS ${name}`);
  const { parameters } = condition;
  const first = parameters.bind('UInt64', BigInt(page.size) * BigInt(page.index));
  const size = parameters.bind('UInt32', page.size);
  // The first row comes with every page, for the number of all.
  const rows = await ask<Record<string, string>>(
    client,
    `SELECT * FROM (
      SELECT key, requests, cost / 1e7 AS cents, count() OVER () AS total,
        row_number() OVER (ORDER BY requests DESC, key ASC) AS place
      FROM (
        SELECT key, ${merged.join(', ')}
        FROM ${partialsBy(key, condition, names)}
        WHERE key != ''
        GROUP BY key
      )
    )
    WHERE place = 1 OR (place > ${first} AND place <= ${first} + ${size})
    ORDER BY place`,
    condition,
  );
  const firstPlace = page.size * page.index;
  return {
    total: BigInt(rows[0]?.total ?? 0),
    rows: rows
      .filter((row) => Number(row.place) > firstPlace)
      .map((row) => ({
        value: row.key!,
        requests: BigInt(row.requests!),
        cost: Number(row.cents),
      })),
  };
}
