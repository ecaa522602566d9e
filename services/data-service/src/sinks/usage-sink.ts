import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import { readEntry } from '@sluice/usage';
import type { IngestMetrics } from '../metrics.ts';
import { markJudged } from '../rollups/mark-judged.ts';
import { type Batcher, createBatcher } from './batcher.ts';
import { UnfitRecord } from './column-values.ts';
import { type LedgerRow, ledgerRow } from './entry-kinds.ts';
import { notAMessage, readMessage } from './read-message.ts';
import { withoutStoredCopies } from './without-copies.ts';

interface RejectRow {
  digest: string;
  reason: string;
  record_base64: string;
  received_at: string;
  /** Set once it is a row. */
  replayed_at?: string;
}

/** Bytes that were rejected before. */
export interface Reject {
  digest: string;
  reason: string;
  bytes: Uint8Array;
  receivedAtMs: number;
}

type Item = LedgerRow | { table: 'usage_rejects'; row: RejectRow };

/** The one way into the ledger, for entries of either transport. */
export interface UsageSink {
  /** Resolves after the insert that holds every entry. Rejects when that did not happen: send them again. */
  write(entries: readonly Uint8Array[], signal?: AbortSignal): Promise<void>;
  /** Keeps bytes that are not even a list of entries. */
  reject(bytes: Uint8Array, reason: string): Promise<void>;
  /** Reads rejects again, and resolves to the digests of those that are rows now. */
  takeAgain(rejects: readonly Reject[]): Promise<ReadonlySet<string>>;
  readonly size: number;
  close(graceMs: number): Promise<void>;
}

export interface UsageSinkOptions {
  client: ClickHouseClient;
  metrics: IngestMetrics;
  logger: Logger;
  nowMs: () => number;
}

export function createUsageSink({ client, metrics, logger, nowMs }: UsageSinkOptions): UsageSink {
  const batcher: Batcher<Item> = createBatcher({
    // Analytics promise to show a request within five seconds; a fifth of one still merges well.
    intervalMs: 200,
    itemsMax: 10_000,
    queueMax: 50_000,
    retryMinMs: 100,
    retryMaxMs: 5000,
    async insert(items) {
      const stop = metrics.insertSeconds.startTimer();
      await insertRows(client, 'usage_rejects', items);
      await insertRows(client, 'usage_records', await withoutCopies(items));
      await insertRows(client, 'usage_adjustments', items);
      await insertRows(client, 'feedbacks', items);
      await markJudged(
        client,
        items.flatMap((item) => (item.table === 'feedbacks' ? [item.row] : [])),
      );
      // Last: a life that says it has sent records must not be known before them.
      await insertRows(client, 'replica_lives', items);
      stop();
      for (const { table } of items) metrics.rows.child({ table }).add(1);
    },
    onFailure(error, count) {
      metrics.insertFailures.inc();
      logger.warn({ err: error, rows: count }, 'an insert failed and will be tried again');
    },
  });

  /** Of what is old, which may be sealed. */
  async function withoutCopies(items: readonly Item[]): Promise<readonly Item[]> {
    const records = items.flatMap((item) => (item.table === 'usage_records' ? [item.row] : []));
    const rows = await withoutStoredCopies(client, records, nowMs());
    return rows.map((row) => ({ table: 'usage_records', row }));
  }

  function itemOf(bytes: Uint8Array): Item {
    try {
      return ledgerRow(readEntry(bytes));
    } catch (error) {
      const reason = error instanceof UnfitRecord ? error.message : 'not an entry';
      logger.error({ reason }, 'an entry of the ledger was rejected');
      return { table: 'usage_rejects', row: rejectRow(bytes, reason, nowMs()) };
    }
  }

  /** The entries that are in a reject: one, unless it is a whole message. */
  function itemsOf({ bytes, reason }: Reject): Item[] | undefined {
    if (reason === notAMessage) return readMessage(bytes)?.map(itemOf);
    return [itemOf(bytes)];
  }

  return {
    async takeAgain(rejects) {
      const rows: Item[] = [];
      const told: Item[] = [];
      const stored = new Set<string>();
      for (const reject of rejects) {
        const items = itemsOf(reject);
        const unfit = items?.find(({ row }) => row.digest === reject.digest);
        if (items !== undefined && unfit === undefined) {
          rows.push(...items);
          stored.add(reject.digest);
          told.push({ table: 'usage_rejects', row: replayedRow(reject, nowMs()) });
        } else if (unfit !== undefined && unfit.row.reason !== reject.reason)
          told.push({
            table: 'usage_rejects',
            row: rejectRow(reject.bytes, String(unfit.row.reason), reject.receivedAtMs),
          });
      }
      // One after the other: bytes are let go of when the rows that they became are stored.
      await batcher.add(rows);
      await batcher.add(told);
      return stored;
    },
    write: (entries, signal) => batcher.add(entries.map(itemOf), signal),
    reject: (bytes, reason) =>
      batcher.add([{ table: 'usage_rejects', row: rejectRow(bytes, reason, nowMs()) }]),
    get size() {
      return batcher.size;
    },
    close: (graceMs) => batcher.close(graceMs),
  };
}

async function insertRows(
  client: ClickHouseClient,
  table: Item['table'],
  items: readonly Item[],
): Promise<void> {
  const values = items.filter((item) => item.table === table).map((item) => item.row);
  if (values.length > 0) await client.insert({ table, values, format: 'JSONEachRow' });
}

function rejectRow(bytes: Uint8Array, reason: string, nowMs: number): RejectRow {
  return {
    digest: createHash('sha256').update(bytes).digest('hex'),
    reason,
    record_base64: Buffer.from(bytes).toString('base64'),
    received_at: instantText(nowMs),
  };
}

/** What is left of a reject that is a row now: that it was one. */
function replayedRow({ digest, reason, receivedAtMs }: Reject, nowMs: number): RejectRow {
  return {
    digest,
    reason,
    record_base64: '',
    received_at: instantText(receivedAtMs),
    replayed_at: instantText(nowMs),
  };
}

function instantText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, -1);
}
