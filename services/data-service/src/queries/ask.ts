import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
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

/** Partials of several rows as one. */
export function mergedPartials(names: readonly PartialName[]): string {
  return names.map((name) => `${partials[name].merge(name)} AS ${name}`).join(', ');
}

/** What one question may take: whoever asks waits for ten seconds, and others ask as well. */
const questionLimits = {
  max_execution_time: 9,
  max_memory_usage: 2_000_000_000,
  max_rows_to_read: 2_000_000_000,
} as const;

/** In the text: what stands beside it holds for all that the embedded engine does from then on, inserts too. */
const settings = Object.entries({ ...entrySettings, ...questionLimits })
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ');

/**
 * The rows of a question about entries.
 * @throws GatewayError `admin.analytics_too_large` where it would take more than one question may
 */
export async function ask<T>(
  client: ClickHouseClient,
  query: string,
  { parameters }: Condition,
): Promise<T[]> {
  try {
    const result = await client.query({
      query: `${query}\nSETTINGS ${settings}`,
      query_params: parameters.values,
      clickhouse_settings: { max_query_size: '16777216' },
      format: 'JSONEachRow',
    });
    return await result.json<T>();
  } catch (error) {
    // Not by its class: the embedded engine has one of its own.
    if (error instanceof Error && 'type' in error && tooLarge.has(error.type))
      throw new GatewayError('admin.analytics_too_large', { cause: error });
    throw error;
  }
}

const tooLarge: ReadonlySet<unknown> = new Set([
  'TIMEOUT_EXCEEDED',
  'TOO_SLOW',
  'TOO_MANY_ROWS',
  'TOO_MANY_BYTES',
  'MEMORY_LIMIT_EXCEEDED',
]);
