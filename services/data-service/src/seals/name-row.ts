import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import { dayStartMs, sealDay } from './days.ts';
import { type Block, isCertain, weightOf } from './read-blocks.ts';

/** An hour whose rows are not those that were sealed. */
export interface Difference {
  organisationId: string;
  day: string;
  workspaceId: string;
  recordsDay: string;
  table: Block['table'];
  hour: number;
  was: Block | undefined;
  is: Block | undefined;
}

/** The id of the row that differs, where it is one alone. */
export async function nameRow(client: Reader, difference: Difference): Promise<string | undefined> {
  const { was, is } = difference;
  const ids = idOf(was) ^ idOf(is);
  const rows = (is?.count ?? 0) - (was?.count ?? 0);
  if (rows === 1 || rows === -1) return uuidOf(ids);
  return rows === 0 && ids === 0n ? findAltered(client, difference) : undefined;
}

/** The row whose weight times what the sums differ by is what the weighted sums differ by. */
async function findAltered(
  client: Reader,
  { organisationId, day, workspaceId, recordsDay, table, hour, was, is }: Difference,
): Promise<string | undefined> {
  const parameters = new Parameters();
  const fromMs = dayStartMs(recordsDay) + hour * 3_600_000;
  const bind = (value: string) => parameters.bind('String', value);
  const more = BigInt.asUintN(64, BigInt(is?.sum ?? 0) - BigInt(was?.sum ?? 0));
  const weighted = BigInt.asUintN(64, BigInt(is?.weights ?? 0) - BigInt(was?.weights ?? 0));
  const result = await client.query({
    query: `SELECT toString(id) AS row_id FROM ${table} FINAL
      WHERE organisation_id = ${bind(organisationId)} AND workspace_id = ${bind(workspaceId)}
        AND created_at >= fromUnixTimestamp64Milli(${fromMs}, 'UTC')
        AND created_at < fromUnixTimestamp64Milli(${fromMs + 3_600_000}, 'UTC')
        AND ${isCertain[table]} AND ${sealDay} = toDate(${bind(day)})
        AND toUInt64(${more}) * ${weightOf} = toUInt64(${weighted})
      LIMIT 2
      SETTINGS max_execution_time = 60`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ row_id: string }>();
  return rows.length === 1 ? rows[0]?.row_id : undefined;
}

function idOf(block: Block | undefined): bigint {
  return BigInt(`0x${block?.ids ?? '0'}`);
}

function uuidOf(id: bigint): string {
  return id
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
