import { create } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import { ask, withEntrySources } from '../ask.ts';
import { entries } from '../entries.ts';
import { type Condition, conditionOf, placeOf, rangeOf } from '../filter.ts';
import type { Reader } from '../questions.ts';
import { type Cursor, readCursor, writeCursor } from './cursor.ts';
import { type PlacedEntry, readEntries } from './read-entries.ts';

const pageSizeDefault = 50;
const pageSizeMax = 1000;
/** Beyond it is only said that there are more. */
export const countMax = 10_000;
/** The newest entries are nearly always enough: so much is looked through first, then six times as much, and so on. */
const firstWindowMs = 600_000;
const windowGrowth = 6;

/** A page of entries, the newest first, and on the first page how many there are. */
export async function listLogs(
  client: Reader,
  { filter, pageSize, cursor }: { filter: analytics.Filter; pageSize: number; cursor: string },
): Promise<analytics.ListLogsResponse> {
  const size = Math.min(pageSize || pageSizeDefault, pageSizeMax);
  const after = cursor === '' ? undefined : readCursor(cursor);
  const found = await newest(client, filter, after, size + 1);
  const page = found.slice(0, size);
  const total = after === undefined ? await countEntries(client, filter) : 0;
  for (const { entry, ...place } of page) entry.cursor = writeCursor(place);
  return create(analytics.ListLogsResponseSchema, {
    entries: page.map(({ entry }) => entry),
    nextCursor: found.length > size ? (page.at(-1)?.entry.cursor ?? '') : '',
    total: BigInt(Math.min(total, countMax)),
    totalIsBound: total > countMax,
  });
}

async function newest(
  client: Reader,
  filter: analytics.Filter,
  after: Cursor | undefined,
  count: number,
): Promise<PlacedEntry[]> {
  const { fromMs, toMs } = rangeOf(filter);
  const found: PlacedEntry[] = [];
  let to = Math.min(toMs, after?.createdAtMs ?? toMs);
  let width = firstWindowMs;
  while (found.length < count && to >= fromMs) {
    const from = Math.max(fromMs, to - width + 1);
    const window = { ...filter, fromMs: BigInt(from), toMs: BigInt(to) };
    const condition =
      after === undefined ? conditionOf(window) : beyond(conditionOf(window), after);
    found.push(...(await readEntries(client, condition, count - found.length)));
    to = from - 1;
    width *= windowGrowth;
  }
  return found;
}

/** Entries of one millisecond are in the order of their ids. */
function beyond(condition: Condition, { createdAtMs, logId }: Cursor): Condition {
  const { parameters } = condition;
  const at = `fromUnixTimestamp64Milli(${parameters.bind('Int64', createdAtMs)}, 'UTC')`;
  const id = `UUIDToNum(toUUID(${parameters.bind('String', logId)}))`;
  return {
    ...condition,
    entry: [
      ...condition.entry,
      `(created_at < ${at} OR (created_at = ${at} AND UUIDToNum(log_id) < ${id}))`,
    ],
    columns: [...condition.columns, 'created_at', 'log_id'],
  };
}

async function countEntries(client: Reader, filter: analytics.Filter): Promise<number> {
  const condition = await withEntrySources(
    client,
    conditionOf(filter),
    ['status_code'],
    placeOf(filter),
  );
  const [row] = await ask<{ total: string }>(
    client,
    `SELECT count() AS total FROM
      (SELECT 1 FROM ${entries(condition, ['status_code'])} LIMIT ${countMax + 1})`,
    condition,
  );
  return Number(row?.total ?? 0);
}
