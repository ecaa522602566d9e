import type { ClickHouseClient } from '@clickhouse/client';
import { textLiteral } from '../queries/parameters.ts';
import { type Cutoffs, type Grain, grains, logsDaysMin } from './cutoff-days.ts';

interface AgedTable {
  readonly name: string;
  readonly grain: Grain;
  /** The time of a row, and a day as a value of the same kind. */
  readonly at: string;
  readonly instantOf: (day: string) => string;
}

const byTime = (name: string, grain: Grain, at: string): AgedTable => ({
  name,
  grain,
  at,
  instantOf: (day) => `toDateTime64('${day}', 3, 'UTC')`,
});
const byMinute = (name: string, at: string): AgedTable => ({
  name,
  grain: 'figures',
  at,
  instantOf: (day) => `toUInt32(toUInt32(toDate('${day}')) * 1440)`,
});

const agedTables: readonly AgedTable[] = [
  byTime('usage_records', 'logs', 'created_at'),
  byTime('late_hooks', 'logs', 'created_at'),
  byTime('usage_adjustments', 'figures', 'created_at'),
  byTime('feedbacks', 'figures', 'created_at'),
  byMinute('settled_entries', 'start'),
  byMinute('usage_rollups', 'start'),
  byMinute('usage_rolls', 'start'),
  byMinute('usage_changes', 'minute'),
];

/**
 * Deletes what is older than its organisation keeps it, at merges: the table's TTL names who loses what up to which day, and
 * the partitions in which there is any of it are merged. Nothing happens to a table that has none.
 */
export async function deleteAged(
  client: ClickHouseClient,
  cutoffs: Cutoffs,
  nowMs: number,
): Promise<string[]> {
  const deleted: string[] = [];
  for (const table of agedTables) {
    const days = cutoffs[table.grain];
    const condition = isAged(table, days);
    const partitions = await partitionsWith(
      client,
      table.name,
      `${mayBeAged(table, days)} AND ${condition}`,
    );
    if (partitions.length === 0) continue;
    deleted.push(table.name);
    await modifyTtl(client, table, condition, nowMs);
    for (const partition of partitions)
      await client.command({
        query: `OPTIMIZE TABLE ${table.name} PARTITION ID ${textLiteral(partition)} FINAL`,
      });
  }
  return deleted;
}

/** Readers know what is gone before it goes. */
export async function writeCutoffs(client: ClickHouseClient, cutoffs: Cutoffs): Promise<void> {
  const values = grains.flatMap((grain) =>
    [...cutoffs[grain]].map(([id, before]) => ({ organisation_id: id, grain, before })),
  );
  await client.insert({ table: 'retention_cutoffs', values, format: 'JSONEachRow' });
}

function isAged({ at, instantOf }: AgedTable, days: ReadonlyMap<string, string>): string {
  const others = instantOf(days.get('') ?? '1970-01-01');
  const named = [...days].filter(([id]) => id !== '');
  if (named.length === 0) return `${at} < ${others}`;
  const ids = named.map(([id]) => textLiteral(id)).join(', ');
  const values = named.map(([, day]) => instantOf(day)).join(', ');
  return `${at} < transform(toString(organisation_id), [${ids}], [${values}], ${others})`;
}

/** Whoever keeps the least: what is younger need not be read to know that it stays. */
function mayBeAged({ at, instantOf }: AgedTable, days: ReadonlyMap<string, string>): string {
  const latest = [...days.values()].toSorted().at(-1) ?? '1970-01-01';
  return `${at} < ${instantOf(latest)}`;
}

async function partitionsWith(
  client: ClickHouseClient,
  table: string,
  condition: string,
): Promise<string[]> {
  const result = await client.query({
    query: `SELECT DISTINCT _partition_id AS id FROM ${table} WHERE ${condition}
      SETTINGS max_execution_time = 60, max_threads = 1`,
    format: 'JSONEachRow',
  });
  return (await result.json<{ id: string }>()).map(({ id }) => id);
}

/**
 * A merge looks at each row of a part only where it does not know the part's TTL yet, and it knows a TTL by the text of its
 * time: so that is another each time. It is no mutation, and parts that are not merged are not touched.
 */
async function modifyTtl(
  client: ClickHouseClient,
  { name, at }: AgedTable,
  condition: string,
  nowMs: number,
): Promise<void> {
  const time = at.endsWith('_at') ? `toDateTime(${at})` : `toDateTime(${at} * 60)`;
  await client.command({
    query: `ALTER TABLE ${name} MODIFY TTL ${time} + toIntervalDay(${logsDaysMin}) + toIntervalSecond(0 * ${nowMs}) DELETE WHERE ${condition}
      SETTINGS materialize_ttl_after_modify = 0`,
  });
}
