import { entries, entrySettings } from './entries.ts';
import { type EntryColumn, formWith, isSettled } from './entry-columns.ts';
import type { Condition } from './filter.ts';
import { textLiteral } from './parameters.ts';
import { gatheredPartial, type PartialName, partials } from './partials.ts';
import type { Reader } from './questions.ts';
import { findSources, rolledRows } from './rolled/find-sources.ts';
import { columnInCells, type Slice, sliceWith, unitWidths } from './rolled/slices.ts';
import type { Span } from './rolled/spans.ts';

/** Entries told apart by a key, a column or what is made of one. */
export interface Key {
  readonly of: readonly EntryColumn[];
  readonly sql: string;
  /** The key of metadata that it is the value of. */
  readonly metadataKey?: string;
}

/** When questions are about, and whose entries. */
interface Place {
  readonly organisationId: string;
  readonly span: Span;
}

/** The condition, with the places where entries with these columns are read; as it is, where only attempts tell them. */
export async function withEntrySources(
  client: Reader,
  condition: Condition,
  columns: readonly EntryColumn[],
  place: Place,
  cells: { slice?: Slice | undefined; bucketMs?: number | undefined } = {},
): Promise<Condition> {
  const asked = [...columns, ...condition.columns];
  if (!asked.every(isSettled)) return condition;
  const form = formWith(asked);
  return { ...condition, sources: await findSources(client, { ...place, ...cells, form }) };
}

/** The same for partials by a key, which cells may know as well. */
export function withSources(
  client: Reader,
  key: Key,
  condition: Condition,
  names: readonly PartialName[],
  { bucketMs, ...place }: Place & { bucketMs?: number },
): Promise<Condition> {
  const metadataKeys = [
    ...condition.metadataKeys,
    ...(key.metadataKey === undefined ? [] : [key.metadataKey]),
  ];
  const slice = sliceWith([...key.of, ...condition.columns], metadataKeys, names);
  const columns = [...key.of, ...names.flatMap((name) => partials[name].of)];
  return withEntrySources(client, condition, columns, place, { slice, bucketMs });
}

/** A table of the partials of what a condition admits, rows of a key; the key is the column `key`. */
export function partialsBy(key: Key, condition: Condition, names: readonly PartialName[]): string {
  const columns = names.flatMap((name): readonly EntryColumn[] => partials[name].of);
  const from = names.map((name) => `${partials[name].from} AS ${name}`);
  const ofEntries = `SELECT ${[`${key.sql} AS key`, ...from].join(', ')}
    FROM ${entries(condition, [...key.of, ...columns])}
    GROUP BY key`;
  const ofCells = cells(condition);
  if (ofCells === undefined) return `(${ofEntries})`;
  const gathered = names.map((name) => `${gatheredPartial(name)} AS ${name}`);
  return `(${ofEntries}
    UNION ALL
    SELECT ${[`${key.sql} AS key`, ...gathered].join(', ')}
    FROM ${ofCells}
    GROUP BY key)`;
}

/** Cells of hours and days, with the columns of entries that questions about them look at. */
function cells({ tenant, request, target, entry, sources }: Condition): string | undefined {
  if (sources?.cells === undefined) return undefined;
  const { slice, spans } = sources.cells;
  const units = unitWidths
    .filter((width) => spans[width].length > 0)
    .map((width) => `(width = ${width} AND ${rolledRows(sources, width, spans[width])})`);
  if (units.length === 0) return undefined;
  const where = [...tenant, `slice = '${slice.name}'`, `(${units.join(' OR ')})`];
  const metadata =
    slice.metadataKey === undefined
      ? ''
      : ', map(metadata_key, metadata_value) AS metadata, metadata_value AS end_user';
  if (slice.metadataKey !== undefined)
    where.push(`metadata_key = ${textLiteral(slice.metadataKey)}`);
  const tool =
    slice.name === 'tool' ? `, ${columnInCells('capability_name')} AS capability_name` : '';
  const table = `SELECT *, start AS minute, toDateTime64(start * 60, 3, 'UTC') AS created_at${metadata}${tool}
    FROM usage_rollups WHERE ${where.join(' AND ')}`;
  const admitted = [...request, ...target, ...entry];
  return admitted.length === 0
    ? `(${table})`
    : `(SELECT * FROM (${table}) WHERE ${admitted.join(' AND ')})`;
}

/** Partials of several rows as one. */
export function mergedPartials(names: readonly PartialName[]): string {
  return names.map((name) => `${partials[name].merge(name)} AS ${name}`).join(', ');
}

/** What one question may take beside the time for which its caller waits: others ask as well. */
const questionLimits = {
  max_memory_usage: 2_000_000_000,
  max_rows_to_read: 2_000_000_000,
} as const;

/** In the text: what stands beside it holds for all that the embedded engine does from then on, inserts too. */
const settings = Object.entries({ ...entrySettings, ...questionLimits })
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ');

/** The rows of a question about entries. */
export async function ask<T>(
  client: Reader,
  query: string,
  { parameters }: Condition,
): Promise<T[]> {
  const result = await client.query({
    query: `${query}\nSETTINGS ${settings}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  return result.json<T>();
}
