import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import { dayStartMs, nextDay, sealDay } from './days.ts';
import { type SealedTable, sealedBytes, sealedColumns } from './sealed-columns.ts';

/**
 * The rows of an hour as a few numbers. `digest` is equal for equal rows only. The others tell which row it is where
 * one was removed or added (the difference of `ids` is its id) or altered (`weights` differ by its own weight times
 * what `sum` differs by).
 */
export interface Block {
  table: SealedTable;
  hour: number;
  count: number;
  /** Of all ids, by exclusive or. */
  ids: string;
  sum: string;
  weights: string;
  digest: string;
}

export interface Totals {
  records: number;
  inputTokens: bigint;
  outputTokens: bigint;
  costNanoUsd: bigint;
  adjustments: number;
  adjustedNanoUsd: bigint;
}

/** What a day's seal holds of one workspace and one day of records. */
export interface Part extends Totals {
  day: string;
  workspaceId: string;
  recordsDay: string;
  blocks: Block[];
}

export interface Days {
  organisationId: string;
  from: string;
  to: string;
}

/** The parts that the rows, as they are now, come to: of records of each day that were in time, and of those that came late. */
export async function readParts(client: Reader, days: Days): Promise<Part[]> {
  const parts = new Map<string, Part>();
  for (let day = days.from; day <= days.to; day = nextDay(day))
    addBlocks(parts, await readBlocks(client, 'usage_records', days, inTime(day)));
  addBlocks(parts, await readBlocks(client, 'usage_records', days, late));
  addBlocks(parts, await readBlocks(client, 'usage_adjustments', days, () => 'true'));
  return [...parts.values()].sort(byPlace);
}

/** Beyond what clocks may say. */
const lastDay = '2149-01-01';

/** The parts of what came after its day was sealed, and is of none of the seals before this day. */
export async function readLateParts(
  client: Reader,
  { organisationId, from }: Pick<Days, 'organisationId' | 'from'>,
): Promise<Part[]> {
  const days = { organisationId, from, to: lastDay };
  const parts = new Map<string, Part>();
  addBlocks(parts, await readBlocks(client, 'usage_records', days, late));
  addBlocks(parts, await readBlocks(client, 'usage_adjustments', days, () => 'true'));
  return [...parts.values()].sort(byPlace);
}

/** Parts in the order of the chain. */
function byPlace(one: Part, other: Part): number {
  const [a, b] = [one, other].map((part) =>
    [part.day, part.workspaceId, part.recordsDay].join('\0'),
  );
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}

type Restriction = (tenant: string) => string;

const inTime = (day: string): Restriction => {
  const from = dayStartMs(day);
  const to = dayStartMs(nextDay(day));
  return () =>
    `created_at >= fromUnixTimestamp64Milli(${from}, 'UTC') AND created_at < fromUnixTimestamp64Milli(${to}, 'UTC') AND ${sealDay} = toDate(created_at)`;
};

/** Few: where they are is found without FINAL. */
const late: Restriction = (tenant) =>
  `created_at IN (SELECT created_at FROM usage_records WHERE ${tenant} AND ${sealDay} > toDate(created_at)) AND ${sealDay} > toDate(created_at)`;

type BlockRow = Record<
  | 'day'
  | 'workspace_id'
  | 'records_day'
  | 'hour'
  | 'count'
  | 'ids'
  | 'sum'
  | 'weights'
  | 'digest'
  | 'input_tokens_sum'
  | 'output_tokens_sum'
  | 'cost_sum',
  string
>;

async function readBlocks(
  client: Reader,
  table: SealedTable,
  { organisationId, from, to }: Days,
  restrict: Restriction,
): Promise<{ table: SealedTable; rows: BlockRow[] }> {
  const parameters = new Parameters();
  const tenant = `organisation_id = ${parameters.bind('String', organisationId)}`;
  const result = await client.query({
    query: `
      SELECT toString(day) AS day, workspace_id, toString(records_day) AS records_day, toString(hour) AS hour,
        toString(count()) AS count,
        lower(hex(groupBitXor(high))) || ' ' || lower(hex(groupBitXor(low))) AS ids,
        toString(sumWithOverflow(number)) AS sum,
        toString(sumWithOverflow(number * weight)) AS weights,
        lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(content)))))) AS digest,
        toString(sum(input_tokens)) AS input_tokens_sum,
        toString(sum(output_tokens)) AS output_tokens_sum,
        toString(sum(cost_nano_usd)) AS cost_sum
      FROM (
        SELECT ${sealDay} AS day, workspace_id, toDate(created_at) AS records_day, toHour(created_at) AS hour,
          input_tokens, output_tokens, cost_nano_usd, ${fingerprint(table)}
        FROM ${table} FINAL
        WHERE ${tenant} AND ${isCertain[table]} AND ${restrict(tenant)}
      )
      WHERE day >= toDate(${parameters.bind('String', from)}) AND day <= toDate(${parameters.bind('String', to)})
      GROUP BY day, workspace_id, records_day, hour
      ORDER BY day, workspace_id, records_day, hour
      SETTINGS max_execution_time = 120, prefer_column_name_to_alias = 1`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  return { table, rows: await result.json<BlockRow>() };
}

/** An attempt that is `lost` so far is sealed once its end is known, or never: nobody knows what it used. */
export const isCertain: Readonly<Record<SealedTable, string>> = {
  usage_records: "outcome != 'lost'",
  usage_adjustments: 'true',
};

/** What of a row goes into its block. */
export function fingerprint(table: SealedTable): string {
  return `
    SHA256(${sealedBytes(sealedColumns[table])}) AS content,
    reinterpretAsUInt64(substring(content, 1, 8)) AS number,
    ${weightOf} AS weight,
    reinterpretAsUInt64(reverse(substring(UUIDToNum(id), 1, 8))) AS high,
    reinterpretAsUInt64(reverse(substring(UUIDToNum(id), 9, 8))) AS low`;
}

/** Odd, so that nothing of what it is multiplied with is lost. */
export const weightOf = 'bitOr(sipHash64(id), 1)';

function addBlocks(
  parts: Map<string, Part>,
  { table, rows }: { table: SealedTable; rows: readonly BlockRow[] },
): void {
  for (const row of rows) {
    const key = [row.day, row.workspace_id, row.records_day].join('\0');
    const part = parts.get(key) ?? emptyPart(row);
    parts.set(key, part);
    part.blocks.push({
      table,
      hour: Number(row.hour),
      count: Number(row.count),
      ids: row.ids
        .split(' ')
        .map((half) => half.padStart(16, '0'))
        .join(''),
      sum: row.sum,
      weights: row.weights,
      digest: row.digest,
    });
    if (table === 'usage_records') {
      part.records += Number(row.count);
      part.inputTokens += BigInt(row.input_tokens_sum);
      part.outputTokens += BigInt(row.output_tokens_sum);
      part.costNanoUsd += BigInt(row.cost_sum);
    } else {
      part.adjustments += Number(row.count);
      part.adjustedNanoUsd += BigInt(row.cost_sum);
    }
  }
}

function emptyPart(row: BlockRow): Part {
  const { day, workspace_id: workspaceId, records_day: recordsDay } = row;
  return { day, workspaceId, recordsDay, blocks: [], ...noTotals };
}

export const noTotals: Totals = {
  records: 0,
  inputTokens: 0n,
  outputTokens: 0n,
  costNanoUsd: 0n,
  adjustments: 0,
  adjustedNanoUsd: 0n,
};
