import type { ClickHouseClient } from '@clickhouse/client';
import { textLiteral } from '../queries/parameters.ts';

/** A record of an old request, by its row in a batch. */
export interface OldRecord {
  readonly row: number;
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly createdAtMs: number;
  readonly replicaId: string;
  readonly sequence: bigint;
  readonly isLost: boolean;
}

/** In one question: ids and times stand in its text. */
const recordsPerQuestion = 1500;

/**
 * The rows of old records that the ledger has already. A copy of a young one changes nothing; that of an old one would
 * take the place of a record that is sealed, with a later time at which it was stored. What is known better than
 * before, the end of an attempt that counted as lost, is no copy.
 *
 * A record whose number the ledger does not have is new, and nearly all are: one look at the bitmaps tells a whole
 * backlog. The others are looked for by their ids.
 */
export async function findStoredCopies(
  client: ClickHouseClient,
  old: readonly OldRecord[],
): Promise<ReadonlySet<number>> {
  const known = await whoseNumberIsKnown(client, old);
  const copies = new Set<number>();
  for (let first = 0; first < known.length; first += recordsPerQuestion) {
    const some = known.slice(first, first + recordsPerQuestion);
    const stored = await storedAmong(client, some);
    for (const { row, id, isLost } of some)
      if ((stored.get(id) ?? -1) >= (isLost ? 0 : 1)) copies.add(row);
  }
  return copies;
}

/** Records that may be stored: their number is, or they have none. */
async function whoseNumberIsKnown(
  client: ClickHouseClient,
  old: readonly OldRecord[],
): Promise<OldRecord[]> {
  const isNumbered = ({ replicaId, sequence }: OldRecord) => replicaId !== '' && sequence > 0n;
  const ranges = new Map<string, Range>();
  for (const record of old) {
    if (!isNumbered(record)) continue;
    const { replicaId } = record;
    const { block, number } = placeOf(record);
    const range = ranges.get(keyOf(replicaId, block));
    if (range === undefined)
      ranges.set(keyOf(replicaId, block), { replicaId, block, from: number, to: number });
    else {
      range.from = Math.min(range.from, number);
      range.to = Math.max(range.to, number);
    }
  }
  const stored = new Map<string, Set<number>>();
  if (ranges.size > 0) {
    const listed = [...ranges.values()].map(
      ({ replicaId, block, from, to }) =>
        `(${textLiteral(replicaId)}, toUInt64(${block}), toUInt32(${from}), toUInt32(${to + 1}))`,
    );
    const result = await client.query({
      query: `
        WITH arrayFirst(each -> each.1 = replica_id AND each.2 = block, [${listed.join(',')}]) AS asked
        SELECT replica_id, toString(block) AS block_number,
          bitmapToArray(bitmapSubsetInRange(groupBitmapMergeState(numbers), asked.3, asked.4)) AS stored
        FROM replica_numbers
        WHERE (replica_id, block) IN (${[...ranges.values()].map(({ replicaId, block }) => `(${textLiteral(replicaId)}, ${block})`).join(',')})
        GROUP BY replica_id, block`,
      format: 'JSONEachRow',
    });
    const rows = await result.json<{
      replica_id: string;
      block_number: string;
      stored: number[];
    }>();
    for (const row of rows)
      stored.set(keyOf(row.replica_id, BigInt(row.block_number)), new Set(row.stored));
  }
  return old.filter((record) => {
    if (!isNumbered(record)) return true;
    const { block, number } = placeOf(record);
    return stored.get(keyOf(record.replicaId, block))?.has(number) === true;
  });
}

/** Numbers of one bitmap. */
interface Range {
  readonly replicaId: string;
  readonly block: bigint;
  from: number;
  to: number;
}

/** As `replica_numbers` has them. */
function placeOf({ sequence }: OldRecord): { block: bigint; number: number } {
  return { block: sequence >> 16n, number: Number(sequence & 0xffffn) };
}

function keyOf(replicaId: string, block: bigint): string {
  return `${block} ${replicaId}`;
}

async function storedAmong(
  client: ClickHouseClient,
  records: readonly OldRecord[],
): Promise<Map<string, number>> {
  const distinct = (textIn: (record: OldRecord) => string) =>
    [...new Set(records.map((record) => textLiteral(textIn(record))))].join(',');
  const timeOf = ({ createdAtMs }: OldRecord) =>
    new Date(createdAtMs).toISOString().replace('T', ' ').slice(0, -1);
  const result = await client.query({
    query: `SELECT toString(id) AS row_id, toString(max(certainty)) AS best
      FROM usage_records
      WHERE organisation_id IN (${distinct((record) => record.organisationId)})
        AND workspace_id IN (${distinct((record) => record.workspaceId)})
        AND created_at IN (${distinct(timeOf)}) AND id IN (${distinct((record) => record.id)})
      GROUP BY id`,
    format: 'JSONEachRow',
  });
  const found = await result.json<{ row_id: string; best: string }>();
  return new Map(found.map(({ row_id, best }) => [row_id, Number(best)]));
}
