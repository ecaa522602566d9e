import type { ExportField, ExportFilters, ExportFormat } from '@sluice/contracts/admin';
import { type LogReader, reachOf } from '@sluice/log-content';
import { type ObjectStore, StoreError } from '@sluice/object-store';
import type { analytics } from '@sluice/proto-stubs';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { presentLog } from '../logs/present-log.ts';
import { type ContentParts, readContent } from '../logs/read-content.ts';
import { findKeptDays } from '../logs/store.ts';
import { type Claim, endLogExport, type FilePart, notePart, partsOf } from './claims.ts';
import { readerOf } from './export-reader.ts';
import { exportedRow } from './exported-row.ts';
import { type GrowingPart, growingPart } from './growing-part.ts';
import { deleteParts, exportFolder, partKey } from './part-keys.ts';
import { deniedAmong, deniedWords } from './restrictions.ts';
import { toLedgerFilter } from './to-ledger-filter.ts';

/** What is published; `all` has no such bound. */
const rowsMax = 50_000;
/** As many as the ledger tells at once. */
const pageSize = 1000;
/** So many bodies are asked for, and held, at once. */
const contentsAtOnce = 8;

export interface ExportParts {
  readonly client: DatabaseClient;
  readonly ledger: Pick<Ledger, 'readLogs'>;
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly onRows: (count: number) => void;
}

/** Somebody stopped it, or another worker has it: what is under way here is nobody's. */
export class ExportLost extends Error {
  override name = 'ExportLost';
}

/** It cannot succeed, however often it is tried; the message is for whoever started it. */
export class ExportRefused extends Error {
  override name = 'ExportRefused';
}

/**
 * Writes the file of an export part by part, from where its last part ended. A
 * part is in the store before it is noted, and counts from then on: whatever
 * ends the process between the two, the part is written again under another key.
 * False = it was asked to leave before it was done.
 * @throws ExportLost, ExportRefused, and whatever else goes wrong, which may be tried again
 */
export async function runExport(
  claim: Claim,
  parts: ExportParts,
  signals: { lost: AbortSignal; leave: AbortSignal },
): Promise<boolean> {
  const { row } = claim;
  const fields = row.requestedData as ExportField[];
  const filters = row.filters as ExportFilters;
  const reader = readerOf(row);
  const filter = toLedgerFilter(filters, reachOf(reader), row.startedAt ?? row.createdAt);
  const { passFirst, most } = pageOf(filters, row.all);
  const showsContent = fields.includes('request') || fields.includes('response');
  const content = showsContent
    ? {
        store: parts.store,
        now: parts.now(),
        keptDays: await findKeptDays(parts.client, row.organisationId),
      }
    : undefined;
  const file = new FileInParts(claim, parts, fields);
  while (file.rows < most) {
    const { entries, nextCursor } = await parts.ledger.readLogs({
      filter,
      pageSize: Math.min(pageSize, passFirst - file.passed + most - file.rows),
      cursor: file.cursor,
    });
    for (let at = 0; at < entries.length; at += contentsAtOnce) {
      const some = entries.slice(at, at + contentsAtOnce);
      const toPass = Math.min(some.length, passFirst - file.passed);
      file.pass(some.slice(0, toPass));
      const shown = some.slice(toPass);
      const rows = await rowsOf(shown, fields, reader, content);
      for (const [index, entry] of shown.entries()) {
        file.add(rows[index]!, entry.cursor);
        if (file.isFull) await file.flush(signals.lost);
      }
    }
    if (signals.lost.aborted) throw new ExportLost();
    if (nextCursor === '') break;
    if (signals.leave.aborted) {
      await file.flush(signals.lost);
      return false;
    }
  }
  await file.flush(signals.lost);
  await deleteParts(parts.store, exportFolder(row), claim.run, file.keys);
  if (!(await endLogExport(parts.client, claim, { status: 'success' }))) throw new ExportLost();
  return true;
}

/** Which of the entries: those of a page of the published size, or all. */
function pageOf(filters: ExportFilters, all: boolean): { passFirst: number; most: number } {
  if (all) return { passFirst: 0, most: Number.POSITIVE_INFINITY };
  const { page_size: most = rowsMax, current_page: page = 0 } = filters;
  return { passFirst: page * most, most };
}

/** Rows as the reader may see them; with their content, where they show any. */
function rowsOf(
  entries: readonly analytics.LogEntry[],
  fields: readonly ExportField[],
  reader: LogReader,
  content: ContentParts | undefined,
): Promise<Record<string, unknown>[]> {
  return Promise.all(
    entries.map(async (entry) => {
      const { record } = entry;
      if (record === undefined) throw new Error('the ledger told an entry without its record');
      const shown = content && (await readContent(record, reader, content));
      // A file that lacks what is kept would look like one that has it all.
      if (shown?.state === 'store-away') throw new StoreError('the store does not answer', true);
      return exportedRow(fields, presentLog(entry, record, undefined, shown));
    }),
  );
}

/** The file as it is so far: what is noted of it, and the part that grows. */
class FileInParts {
  readonly #claim: Claim;
  readonly #parts: ExportParts;
  readonly #fields: readonly ExportField[];
  readonly #part: GrowingPart;
  readonly keys: Set<string>;
  #written: number;
  #number = 0;
  passed: number;
  cursor: string;

  constructor(claim: Claim, parts: ExportParts, fields: readonly ExportField[]) {
    const { row } = claim;
    this.#claim = claim;
    this.#parts = parts;
    this.#fields = fields;
    this.#part = growingPart(row.format as ExportFormat, fields);
    this.keys = new Set(partsOf(row).map(({ key }) => key));
    this.#written = row.total;
    this.passed = row.passed;
    this.cursor = row.cursor;
  }

  /** With those of the part that grows. */
  get rows(): number {
    return this.#written + this.#part.rows;
  }

  get isFull(): boolean {
    return this.#part.isFull;
  }

  pass(entries: readonly analytics.LogEntry[]): void {
    this.passed += entries.length;
    this.cursor = entries.at(-1)?.cursor ?? this.cursor;
  }

  add(row: Readonly<Record<string, unknown>>, cursor: string): void {
    this.#part.add(row);
    this.cursor = cursor;
  }

  async flush(lost: AbortSignal): Promise<void> {
    if (this.#part.rows === 0) return;
    if (lost.aborted) throw new ExportLost();
    const { client, store, onRows } = this.#parts;
    const { row, run } = this.#claim;
    // Settings may have changed since it was made, and since its last part.
    const denied = await deniedAmong(client, row, this.#fields);
    if (denied !== undefined) throw new ExportRefused(deniedWords(denied));
    const { rows, content, columns } = await this.#part.take();
    const key = partKey(exportFolder(row), run, ++this.#number);
    await store.put(key, content, 'application/octet-stream');
    const part: FilePart = { key, rows, bytes: content.length, columns: columns ?? [] };
    const { cursor, passed } = this;
    if (!(await notePart(client, this.#claim, part, { cursor, passed }))) throw new ExportLost();
    this.keys.add(key);
    this.#written += rows;
    onRows(rows);
  }
}
