import { clone, create } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { ask } from '../ask.ts';
import { entries, entryOfAll } from '../entries.ts';
import type { EntryColumn } from '../entry-columns.ts';
import type { Condition } from '../filter.ts';
import type { Reader } from '../questions.ts';
import { recordOfRow, rowSettings, type StoredRow } from './record-of-row.ts';

/** An entry as it is found, before its last attempt's record is read. */
interface FoundEntry {
  log_id: string;
  last_id: string;
  at: string;
  attempts: string;
  input_tokens: string;
  output_tokens: string;
  cost_nano_usd: string;
  cost_known: boolean;
  adjusted_nano_usd: string;
}

/** An entry with its place among all: logs are read from the newest on. */
export interface PlacedEntry {
  readonly logId: string;
  readonly createdAtMs: number;
  readonly entry: analytics.LogEntry;
}

/** As text: JSON's numbers lose digits. */
const sums = [
  'attempts',
  'input_tokens',
  'output_tokens',
  'cost_nano_usd',
  'adjusted_nano_usd',
] as const satisfies readonly EntryColumn[];
const columns: readonly EntryColumn[] = ['log_id', 'last_id', 'created_at', 'cost_known', ...sums];

/** The newest entries that a condition admits: whole, each with the record of its last attempt. */
export async function readEntries(
  client: Reader,
  condition: Condition,
  limit: number,
): Promise<PlacedEntry[]> {
  return withRecords(client, condition, await findEntries(client, condition, limit));
}

/** The newest entries that a condition admits, as they are found. */
function findEntries(client: Reader, condition: Condition, limit: number): Promise<FoundEntry[]> {
  return ask<FoundEntry>(
    client,
    `${foundIn(entries(condition, columns))}
     ORDER BY created_at DESC, UUIDToNum(log_id) DESC
     LIMIT ${limit}`,
    condition,
  );
}

/** The one entry of which a condition admits all attempts, and nothing else: found by fewer reads. */
export function findEntry(client: Reader, condition: Condition): Promise<FoundEntry[]> {
  return ask<FoundEntry>(client, foundIn(entryOfAll(condition, columns)), condition);
}

const foundIn = (table: string) =>
  `SELECT log_id, last_id, cost_known, toString(toUnixTimestamp64Milli(created_at)) AS at,
     ${sums.map((name) => `toString(${name}) AS ${name}`).join(', ')}
   FROM ${table}`;

/** Entries with the records of their last attempts, which are read unless they are among those that are known. */
export async function withRecords(
  client: Reader,
  condition: Condition,
  found: readonly FoundEntry[],
  known: readonly usage.UsageRecord[] = [],
): Promise<PlacedEntry[]> {
  const records = new Map(
    known.map((record) => [uuidText(record.id), clone(usage.UsageRecordSchema, record)]),
  );
  const missing = found.filter((entry) => !records.has(entry.last_id));
  if (missing.length > 0)
    for (const [id, record] of await readRecords(client, condition, missing))
      records.set(id, record);
  return found.flatMap((entry) => {
    const record = records.get(entry.last_id);
    // Gone between the two questions, by its age.
    if (record === undefined) return [];
    const adjusted = BigInt(entry.adjusted_nano_usd);
    record.inputTokens = BigInt(entry.input_tokens);
    record.outputTokens = BigInt(entry.output_tokens);
    record.costKnown = entry.cost_known;
    record.costNanoUsd = BigInt(entry.cost_nano_usd) - adjusted;
    return {
      logId: entry.log_id,
      createdAtMs: Number(entry.at),
      entry: create(analytics.LogEntrySchema, {
        record,
        attempts: Number(entry.attempts),
        adjustedNanoUsd: adjusted,
      }),
    };
  });
}

/** By their times and ids, so that only the granules that hold them are read. */
async function readRecords(
  client: Reader,
  { tenant, parameters }: Condition,
  found: readonly FoundEntry[],
) {
  const times = [...new Set(found.map(({ at }) => at))];
  const result = await client.query({
    query: `SELECT * FROM usage_records FINAL
      WHERE ${tenant.join(' AND ')}
        AND created_at IN (${times.map((at) => `fromUnixTimestamp64Milli(${Number(at)}, 'UTC')`).join(',')})
        AND id IN ${parameters.bindTexts(found.map(({ last_id }) => last_id))}
      ${rowSettings}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<StoredRow>();
  return new Map(rows.map((row) => [row.id, recordOfRow(row)]));
}
