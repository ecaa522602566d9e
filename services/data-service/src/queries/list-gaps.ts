import type { MessageInitShape } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import type { Reader } from './questions.ts';

/** Numbers of a life, both ends included, that no record carries. */
export interface Gap {
  replicaId: string;
  from: number;
  to: number;
  life: analytics.LifeEnd;
}

const { LifeEnd } = analytics;

/** Numbers in one bitmap. */
const blockNumbers = 65_536;
/** A life that is not heard of for so long is over, however it ended. */
const silentMs = 600_000;
/** Of lives that are looked at, and of bitmaps with holes that are read. */
const livesMax = 10_000;
const blocksMax = 1000;

/** Whether all numbers of a block lie between the first and the last of a life. */
const isWithin = `(each.1 > intDiv(first, ${blockNumbers}) AND each.1 < intDiv(last, ${blockNumbers}))`;

/**
 * Up to which number a life must be whole: what it has sent while it lives, all
 * that it or its records tell of once it is over. A life of a former release
 * tells nothing of itself: between its first and its last record there is no hole.
 */
const livesQuery = `
  WITH
    fromUnixTimestamp64Milli({now_ms:Int64}, 'UTC') AS now,
    fromUnixTimestamp64Milli({settled_ms:Int64}, 'UTC') AS settled,
    now - INTERVAL ${silentMs} MILLISECOND AS silent,
    fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC') AS since,
    lives AS (
      SELECT replica_id, max(state) AS last_state, max(sequence) AS told, max(stored_at) AS heard_at,
             maxIf(complete_to, stored_at < settled) AS sent, groupUniqArrayArray(unused) AS unused
      FROM replica_lives
      WHERE minute >= toDateTime(since, 'UTC')
      GROUP BY replica_id
    ),
    bitmaps AS (
      SELECT replica_id, block, groupBitmapMergeState(numbers) AS bitmap, max(stored_at) AS stored_at
      FROM replica_numbers
      GROUP BY replica_id, block
    ),
    recorded AS (
      SELECT replica_id, max(stored_at) AS stored_at,
             max(block * ${blockNumbers} + bitmapMax(bitmap)) AS highest,
             min(block * ${blockNumbers} + bitmapMin(bitmap)) AS lowest,
             -- Counted further down: a second look at them would merge them a second time.
             groupArray((block, bitmap)) AS blocks
      FROM bitmaps
      GROUP BY replica_id
      HAVING stored_at >= since OR replica_id IN (SELECT replica_id FROM lives)
    ),
    judged AS (
      SELECT if(lives.replica_id = '', recorded.replica_id, lives.replica_id) AS name, unused, blocks,
             multiIf(
               lives.replica_id = '', ${LifeEnd.UNTOLD},
               last_state = 3 AND heard_at < settled, ${LifeEnd.ENDED},
               heard_at < silent, ${LifeEnd.SILENT},
               ${LifeEnd.ALIVE}) AS life,
             if(life = ${LifeEnd.UNTOLD}, lowest, 1) AS first,
             multiIf(
               life = ${LifeEnd.ALIVE}, sent,
               life = ${LifeEnd.UNTOLD}, if(recorded.stored_at < settled, highest, 0),
               greatest(told, highest)) AS last,
             greatest(heard_at, recorded.stored_at) AS latest
      FROM lives FULL JOIN recorded ON lives.replica_id = recorded.replica_id
    )
  SELECT name, life, toString(first) AS from_number, toString(last) AS to_number, unused,
         arraySum(each ->
           if(${isWithin}, bitmapCardinality(each.2), 0)
           -- Goes through the numbers one by one: of the first and the last block only.
           + bitmapCardinality(bitmapSubsetInRange(each.2,
               toUInt32(if(each.1 = intDiv(first, ${blockNumbers}), first % ${blockNumbers}, 0)),
               toUInt32(if(${isWithin}, 0,
                 least(toUInt64(${blockNumbers}), greatest(last + 1, each.1 * ${blockNumbers}) - each.1 * ${blockNumbers}))))),
           blocks) AS present
  FROM judged
  WHERE last >= first AND last - first + 1 > present
  ORDER BY latest DESC, name
  LIMIT ${livesMax}
  SETTINGS join_use_nulls = 0`;

interface LifeRow {
  name: string;
  life: analytics.LifeEnd;
  from_number: string;
  to_number: string;
  unused: (string | number)[];
}

/** How gaps are looked for. */
export interface GapSearch {
  readonly nowMs: number;
  /** What other replicas of this service still insert, or NATS still hands out, is no loss. */
  readonly graceMs: number;
}

/** What replicas heard of since a time recorded and the ledger does not have, the latest life first. */
export async function findGaps(
  client: Reader,
  { nowMs, graceMs, sinceMs }: GapSearch & { sinceMs: number },
): Promise<Gap[]> {
  const result = await client.query({
    query: livesQuery,
    query_params: { now_ms: nowMs, settled_ms: nowMs - graceMs, since_ms: sinceMs },
    format: 'JSONEachRow',
  });
  const lives = await result.json<LifeRow>();
  if (lives.length === 0) return [];
  const blocks = await blocksOf(client, lives);
  return lives.flatMap((life) => holesOf(life, blocks.get(life.name) ?? []));
}

interface Block {
  replica_id: string;
  block: number;
  /** Ascending; empty = the block is whole. */
  numbers: number[];
}

async function blocksOf(client: Reader, lives: readonly LifeRow[]): Promise<Map<string, Block[]>> {
  const result = await client.query({
    query: `
      SELECT replica_id, toString(block) AS block_number,
             if(count <= blocks_max AND cardinality < ${blockNumbers}, arraySort(bitmapToArray(bitmap)), []) AS numbers
      FROM (
        SELECT replica_id, block, groupBitmapMergeState(numbers) AS bitmap, bitmapCardinality(bitmap) AS cardinality,
               {blocks_max:UInt32} AS blocks_max,
               countIf(cardinality < ${blockNumbers}) OVER (ORDER BY replica_id, block) AS count
        FROM replica_numbers
        WHERE replica_id IN {names:Array(String)}
        GROUP BY replica_id, block
      )
      ORDER BY replica_id, block`,
    query_params: { names: lives.map(({ name }) => name), blocks_max: blocksMax },
    format: 'JSONEachRow',
  });
  const rows = await result.json<Omit<Block, 'block'> & { block_number: string }>();
  const byLife = Map.groupBy(
    rows.map((row) => ({ ...row, block: Number(row.block_number) })),
    (row) => row.replica_id,
  );
  return byLife;
}

function holesOf(life: LifeRow, blocks: readonly Block[]): Gap[] {
  const holes: Gap[] = [];
  const last = Number(life.to_number);
  const unused = life.unused.map(Number).sort((a, b) => a - b);
  let next = Number(life.from_number);
  const closeBefore = (number: number) => {
    const to = Math.min(number - 1, last);
    for (const from of split(next, to, unused))
      holes.push({ replicaId: life.name, life: life.life, ...from });
    next = Math.max(next, number + 1);
  };
  for (const { block, numbers } of blocks) {
    const start = block * blockNumbers;
    if (numbers.length === 0) {
      closeBefore(start);
      next = Math.max(next, start + blockNumbers);
    }
    for (const number of numbers) closeBefore(start + number);
  }
  closeBefore(last + 1);
  return holes;
}

/** The range without the numbers that nothing was recorded under. */
function split(
  from: number,
  to: number,
  unused: readonly number[],
): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let start = from;
  for (const number of unused) {
    if (number < start || number > to) continue;
    if (number > start) parts.push({ from: start, to: number - 1 });
    start = number + 1;
  }
  if (start <= to) parts.push({ from: start, to });
  return parts;
}

const pageSizeMax = 1000;

/** A page of the gaps, each with the time before which it does not lie. */
export async function listGaps(
  client: Reader,
  request: analytics.ListGapsRequest,
  search: GapSearch,
): Promise<MessageInitShape<typeof analytics.ListGapsResponseSchema>> {
  const all = await findGaps(client, { ...search, sinceMs: Math.max(0, Number(request.sinceMs)) });
  const size = Math.min(request.pageSize, pageSizeMax);
  const page = all.slice(request.currentPage * size, (request.currentPage + 1) * size);
  const times = await timesBefore(client, page);
  return {
    total: BigInt(all.length),
    gaps: page.map(({ replicaId, from, to, life }, index) => ({
      replicaId,
      life,
      fromSequence: BigInt(from),
      toSequence: BigInt(to),
      sinceMs: BigInt(times[index] ?? 0),
    })),
  };
}

/** When each life last told of itself before it took the first number of the gap; 0 = it never did. */
async function timesBefore(client: Reader, gaps: readonly Gap[]): Promise<number[]> {
  if (gaps.length === 0) return [];
  const result = await client.query({
    query: `
      SELECT place, toUnixTimestamp64Milli(maxIf(at, sequence < first)) AS since_ms
      FROM (
        SELECT arrayJoin(arrayEnumerate({names:Array(String)})) AS place,
               {names:Array(String)}[place] AS name, {firsts:Array(UInt64)}[place] AS first
      ) AS gaps
      INNER JOIN replica_lives ON replica_lives.replica_id = gaps.name
      GROUP BY place`,
    query_params: {
      names: gaps.map(({ replicaId }) => replicaId),
      firsts: gaps.map(({ from }) => from),
    },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ place: string | number; since_ms: string | number }>();
  const times = new Map(rows.map((row) => [Number(row.place) - 1, Number(row.since_ms)]));
  return gaps.map((_, index) => times.get(index) ?? 0);
}
