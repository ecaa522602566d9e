import { create } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { analytics } from '@sluice/proto-stubs';
import { entries, entrySettings } from '../queries/entries.ts';
import { type EntryColumn, rollForm, settledColumns } from '../queries/entry-columns.ts';
import { type Condition, conditionOf } from '../queries/filter.ts';
import { textLiteral } from '../queries/parameters.ts';
import { type PartialName, partials, rolledPartials } from '../queries/partials.ts';
import { findSources } from '../queries/rolled/find-sources.ts';
import {
  columnInCells,
  everyKey,
  metadataKeysMax,
  metadataSlice,
  metadataValuesMax,
  ofAllOnly,
  slices,
  type UnitWidth,
} from '../queries/rolled/slices.ts';
import { minuteMs, type Span, spansOfUnits } from '../queries/rolled/spans.ts';

export interface UnitsToWrite {
  readonly organisationId: string;
  readonly starts: readonly number[];
  readonly roll: string;
}

/** Away from questions: one core, and no more memory than one of them. */
const settings = Object.entries({
  ...entrySettings,
  max_threads: 1,
  max_execution_time: 300,
  max_memory_usage: 1_500_000_000,
  max_bytes_before_external_group_by: 500_000_000,
  max_bytes_before_external_sort: 500_000_000,
})
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ');

/** Writes the entries of minutes, made of their attempts. */
export async function writeMinutes(
  client: ClickHouseClient,
  { organisationId, starts, roll }: UnitsToWrite,
): Promise<void> {
  const spans = spansOfUnits(starts, 1);
  const condition = {
    ...ofSpan(organisationId, around(spans)),
    sources: { organisationId, raw: spans, settled: [], rolls: new Map() },
  };
  await client.command({
    query: `
      INSERT INTO settled_entries (organisation_id, start, number, roll, ${settledColumns.join(', ')})
      SELECT ${textLiteral(organisationId)}, ${startOf(1)},
        row_number() OVER (PARTITION BY workspace_id, created_at ORDER BY UUIDToNum(log_id)), ${roll}, ${settledColumns.join(', ')}
      FROM ${entries(condition, [...settledColumns, 'log_id'])}
      SETTINGS ${settings}`,
    query_params: condition.parameters.values,
  });
}

/** Writes the cells of hours or days, and says which keys of metadata have too many values for that. */
export async function writeCells(
  client: ClickHouseClient,
  width: UnitWidth,
  { organisationId, starts, roll }: UnitsToWrite,
): Promise<Map<number, string[]>> {
  const span = around(spansOfUnits(starts, width));
  const condition: Condition = {
    ...ofSpan(organisationId, span),
    sources: await findSources(client, { organisationId, span, form: rollForm }),
  };
  const columns = [
    ...new Set<EntryColumn>([
      'created_at',
      'workspace_id',
      'metadata',
      ...Object.values(slices).flat(),
      ...rolledPartials.flatMap((name): readonly EntryColumn[] => partials[name].of),
    ]),
  ];
  const table = `(SELECT *, ${startOf(width)} AS start FROM ${entries(condition, columns)}
    WHERE start IN (${starts.join(',')}))`;
  const into = (names: readonly string[], held: readonly PartialName[]) =>
    `INSERT INTO usage_rollups (organisation_id, width, roll, ${[...names, ...held].join(', ')})
      SELECT ${textLiteral(organisationId)}, ${width}, ${roll}`;
  const common = ['start', 'workspace_id'];
  const heldByAny = rolledPartials.filter((name) => !ofAllOnly.has(name));
  const valuesOf = (names: readonly PartialName[]) =>
    names.map((name) => partials[name].from).join(', ');
  const parameters = { query_params: condition.parameters.values };
  await client.command({
    query: `${into(['slice', ...common], rolledPartials)}, 'all', ${common.join(', ')}, ${valuesOf(rolledPartials)}
      FROM ${table}
      GROUP BY ${common.join(', ')}
      SETTINGS ${settings}`,
    ...parameters,
  });
  const others = Object.entries(slices).filter(([, [first]]) => first !== undefined);
  const dimensions = [...new Set<EntryColumn>(others.flatMap(([, some]) => some))];
  const sets = others.map(([, some]) => `(${[...common, ...some].join(', ')})`);
  // The first column of a slice may be among those of a later one, and not of one before.
  const slice = others.toReversed().map(([name, [first]]) => `grouping(${first}) = 0, '${name}'`);
  await client.command({
    query: `${into(['slice', ...common, ...dimensions.map(columnInCells)], heldByAny)}, multiIf(${slice.join(', ')}, ''), ${[...common, ...dimensions].join(', ')}, ${valuesOf(heldByAny)}
      FROM ${table}
      GROUP BY GROUPING SETS (${sets.join(', ')})
      SETTINGS ${settings}`,
    ...parameters,
  });
  const pairs = `(SELECT *, pair.1 AS metadata_key, pair.2 AS metadata_value
    FROM ${table} ARRAY JOIN CAST(metadata, 'Array(Tuple(String, String))') AS pair)`;
  const leftOut = await findLeftOut(client, width, pairs, condition);
  const isLeft = [...leftOut].map(([start, keys]) =>
    keys.includes(everyKey)
      ? `start = ${start}`
      : `(start = ${start} AND metadata_key IN (${keys.map(textLiteral).join(',')}))`,
  );
  await client.command({
    query: `${into(['slice', ...common, 'metadata_key', 'metadata_value'], heldByAny)}, '${metadataSlice}', ${common.join(', ')}, metadata_key, metadata_value, ${valuesOf(heldByAny)}
      FROM ${pairs}
      WHERE NOT (${isLeft.length === 0 ? 'false' : isLeft.join(' OR ')})
      GROUP BY ${common.join(', ')}, metadata_key, metadata_value
      SETTINGS ${settings}`,
    ...parameters,
  });
  return leftOut;
}

async function findLeftOut(
  client: ClickHouseClient,
  width: UnitWidth,
  pairs: string,
  { parameters }: Condition,
): Promise<Map<number, string[]>> {
  const result = await client.query({
    query: `
      SELECT start, if(count() > ${metadataKeysMax}, ['${everyKey}'], groupArrayIf(metadata_key, is_left)) AS keys
      FROM (
        SELECT start, metadata_key, uniq(metadata_value) > ${metadataValuesMax[width]} AS is_left
        FROM ${pairs} GROUP BY start, metadata_key
      )
      GROUP BY start HAVING notEmpty(keys)
      SETTINGS ${settings}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ start: number; keys: string[] }>();
  return new Map(rows.map(({ start, keys }) => [Number(start), keys]));
}

function startOf(width: number): string {
  return `toUInt32(intDiv(toUnixTimestamp64Milli(created_at), ${width * minuteMs}) * ${width})`;
}

function around(spans: readonly Span[]): Span {
  return { from: spans[0]!.from, to: spans.at(-1)!.to };
}

function ofSpan(organisationId: string, { from, to }: Span): Condition {
  return conditionOf(
    create(analytics.FilterSchema, {
      organisationId,
      fromMs: BigInt(from),
      toMs: BigInt(to - 1),
    }),
  );
}
