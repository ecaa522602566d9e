import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { usage } from '@sluice/proto-stubs';
import type { Logger } from '@sluice/telemetry';
import { readEntry } from '@sluice/usage';
import type { InsertBlock, NativeBlock } from '../columns/native-block.ts';
import { UnfitRecord } from '../columns/unfit-record.ts';
import type { IngestMetrics } from '../metrics.ts';
import { markJudged } from '../rollups/mark-judged.ts';
import { settledAfterMs } from '../seals/days.ts';
import { type Batcher, createBatcher } from './batcher.ts';
import { type LedgerRow, ledgerRow } from './entry-kinds.ts';
import { findStoredCopies, type OldRecord } from './find-stored-copies.ts';
import { notAMessage, readMessage } from './read-message.ts';
import { UsageRows } from './usage-rows.ts';

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

/** The bytes of an entry, or what is told of bytes that were rejected before. */
type Item = Uint8Array | RejectItem;

interface RejectItem {
  table: 'usage_rejects';
  row: RejectRow;
}

/** Items as they are inserted. */
interface Batch {
  /** Of the attempts that are rows. */
  readonly attempts: readonly Uint8Array[];
  readonly block: NativeBlock;
  /** Those whose copies would do harm. */
  readonly old: readonly OldRecord[];
  readonly others: readonly (LedgerRow | RejectItem)[];
}

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
  insertBlock: InsertBlock;
  metrics: IngestMetrics;
  logger: Logger;
  nowMs: () => number;
  /** The longest that an entry waits for others. */
  insertIntervalMs: number;
}

export function createUsageSink(options: UsageSinkOptions): UsageSink {
  const { client, insertBlock, metrics, logger, nowMs, insertIntervalMs } = options;
  /** Of one batch after the other. */
  const rows = new UsageRows();

  const batcher: Batcher<Item> = createBatcher({
    intervalMs: insertIntervalMs,
    itemsMax: 20_000,
    queueMax: 100_000,
    retryMinMs: 100,
    retryMaxMs: 5000,
    prepare,
    async insert(batch: Batch) {
      const stop = metrics.insertSeconds.startTimer();
      await insertRows('usage_rejects', batch);
      await insertAttempts(batch);
      await insertRows('usage_adjustments', batch);
      await insertRows('late_hooks', batch);
      await insertRows('stored_objects', batch);
      await insertRows('feedbacks', batch);
      await markJudged(
        client,
        batch.others.flatMap((item) => (item.table === 'feedbacks' ? [item.row] : [])),
      );
      // Last: a life that says it has sent records must not be known before them.
      await insertRows('replica_lives', batch);
      stop();
      metrics.rows.child({ table: 'usage_records' }).add(batch.attempts.length);
      for (const { table } of batch.others) metrics.rows.child({ table }).add(1);
    },
    onFailure(error, count) {
      metrics.insertFailures.inc();
      logger.warn({ err: error, rows: count }, 'an insert failed and will be tried again');
    },
  });

  function prepare(items: readonly Item[]): Batch {
    const attempts: Uint8Array[] = [];
    const others: Batch['others'][number][] = [];
    rows.reset();
    for (const item of items)
      if (!(item instanceof Uint8Array)) others.push(item);
      else {
        const other = itemOf(item, rows);
        if (other === undefined) attempts.push(item);
        else others.push(other);
      }
    return { attempts, block: rows.block(), old: rows.before(nowMs() - settledAfterMs), others };
  }

  async function insertAttempts({ attempts, block, old }: Batch): Promise<void> {
    const copies = old.length === 0 ? noRows : await findStoredCopies(client, old);
    if (copies.size === attempts.length) return;
    await insertBlock('usage_records', copies.size === 0 ? block : without(attempts, copies));
  }

  function without(attempts: readonly Uint8Array[], copies: ReadonlySet<number>): NativeBlock {
    rows.reset();
    for (const [row, bytes] of attempts.entries())
      if (!copies.has(row)) rows.add(readEntry(bytes).body);
    return rows.block();
  }

  async function insertRows(
    table: Batch['others'][number]['table'],
    { others }: Batch,
  ): Promise<void> {
    const values = others.filter((item) => item.table === table).map(({ row }) => row);
    if (values.length > 0) await client.insert({ table, values, format: 'JSONEachRow' });
  }

  /** Adds an attempt to the rows; what else there is is given back. */
  function itemOf(bytes: Uint8Array, to: UsageRows): LedgerRow | RejectItem | undefined {
    try {
      const entry = readEntry(bytes);
      if (entry.kind !== usage.EntryKind.ATTEMPT) return ledgerRow(entry);
      to.add(entry.body);
      return undefined;
    } catch (error) {
      const reason = error instanceof UnfitRecord ? error.message : 'not an entry';
      logger.error({ reason }, 'an entry of the ledger was rejected');
      return { table: 'usage_rejects', row: rejectRow(bytes, reason, nowMs()) };
    }
  }

  /** What of the entries in a reject, one unless it is a whole message, is still none. */
  function unfitIn(entries: readonly Uint8Array[]): RejectRow[] {
    const read = new UsageRows();
    return entries.flatMap((bytes) => {
      const item = itemOf(bytes, read);
      return item?.table === 'usage_rejects' ? [item.row] : [];
    });
  }

  return {
    async takeAgain(rejects) {
      const fit: Item[] = [];
      const told: Item[] = [];
      const stored = new Set<string>();
      for (const reject of rejects) {
        const entries = entriesIn(reject);
        const unfit = unfitIn(entries ?? []).find(({ digest }) => digest === reject.digest);
        if (entries !== undefined && unfit === undefined) {
          fit.push(...entries);
          stored.add(reject.digest);
          told.push({ table: 'usage_rejects', row: replayedRow(reject, nowMs()) });
        } else if (unfit !== undefined && unfit.reason !== reject.reason)
          told.push({
            table: 'usage_rejects',
            row: rejectRow(reject.bytes, unfit.reason, reject.receivedAtMs),
          });
      }
      // One after the other: bytes are let go of when the rows that they became are stored.
      await batcher.add(fit);
      await batcher.add(told);
      return stored;
    },
    write: (entries, signal) => batcher.add(entries, signal),
    reject: (bytes, reason) =>
      batcher.add([{ table: 'usage_rejects', row: rejectRow(bytes, reason, nowMs()) }]),
    get size() {
      return batcher.size;
    },
    close: (graceMs) => batcher.close(graceMs),
  };
}

const noRows: ReadonlySet<number> = new Set();

/** The entries that a reject holds; undefined = it is a message that still cannot be read. */
function entriesIn({ bytes, reason }: Reject): readonly Uint8Array[] | undefined {
  return reason === notAMessage ? readMessage(bytes) : [bytes];
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
