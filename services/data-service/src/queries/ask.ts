import type { ClickHouseClient } from '@clickhouse/client';
import { entries, entrySettings } from './entries.ts';
import type { EntryColumn } from './entry-columns.ts';
import type { Condition } from './filter.ts';
import { type PartialName, partials } from './partials.ts';

/** Entries told apart by a key, a column or what is made of one. */
export interface Key {
  readonly of: readonly EntryColumn[];
  readonly sql: string;
}

/** A table of the partials of what a condition admits, one row a key; the key is the column `key`. */
export function partialsBy(key: Key, condition: Condition, names: readonly PartialName[]): string {
  const columns = names.flatMap((name): readonly EntryColumn[] => partials[name].of);
  const from = names.map((name) => `${partials[name].from} AS ${name}`);
  return `(SELECT ${[`${key.sql} AS key`, ...from].join(', ')}
    FROM ${entries(condition, [...key.of, ...columns])}
    GROUP BY key)`;
}

export type Row = Readonly<Record<string, string | number>>;

/** The rows of a question about entries. */
export async function ask<T = Row>(
  client: ClickHouseClient,
  query: string,
  { parameters }: Condition,
): Promise<T[]> {
  const result = await client.query({
    query,
    query_params: parameters.values,
    clickhouse_settings: { ...entrySettings, max_execution_time: 20, max_query_size: '16777216' },
    format: 'JSONEachRow',
  });
  return result.json<T>();
}
