import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { EntryKind } from '@sluice/usage';
import { OpenAttempts } from './open-attempts.ts';
import {
  entriesOf,
  entryBytesMax,
  headerBytes,
  isOwn,
  kindAttempt,
  kindBegin,
  kindNote,
  noId,
} from './outbox-entries.ts';
import { PendingEntries } from './pending-entries.ts';
import {
  type OutboxLoss,
  type OutboxPosition,
  type SegmentPart,
  SegmentReader,
  segmentPath,
} from './segment-reader.ts';

/**
 * The outbox: an append-only log on disk between the request path and the
 * ledger. A record is in the kernel's hands (written, not fsynced) before the
 * caller gets the end of the answer, so that killing the process loses nothing.
 * Entries of one turn of the event loop share one write: `begin` and `end`
 * return a promise that resolves when theirs is done.
 *
 * Segments `<number>.log` hold entries `[length u32][crc32 u32][kind u8][id 16][payload]`.
 * Kind 1, `begin`, says that an attempt has started, kind 2 carries its record;
 * other kinds are facts of their own, with the numbers of `EntryKind`, and go
 * to the ledger also when only another release knows them. `cursor.json` says up to where the ledger has acknowledged. An
 * attempt that began and never ended was lost with the process: `recover`
 * hands it back so that it, too, leaves its one record. What cannot be read is
 * passed over up to the next whole entry, told, and its segment kept in `damaged/`.
 *
 * A note goes before the entry that it belongs to and holds once that is there,
 * too; it never leaves the gateway. The last one of its key is kept until it is
 * forgotten, or handed to the next life.
 */

const segmentBytesMax = 8 * 1024 * 1024;
/** A small outbox has that many segments at least: one that is written to keeps its room although it was sent. */
const segmentsMin = 16;
const payloadBytesMax = entryBytesMax - headerBytes;
/** How long those wait where nothing else is to be written. */
const retryMs = 1000;

export interface OutboxBatch extends Omit<SegmentPart, 'offset'> {
  from: OutboxPosition;
  next: OutboxPosition;
}

/** What another life of this gateway is to know, should this one end before it is forgotten. */
export interface OutboxNote {
  /** A later note of the same key stands in place of this one. */
  readonly key: string;
  readonly text: string;
}

export class OutboxFullError extends Error {}

export interface OutboxOptions {
  dir: string;
  bytesMax: number;
  onLoss?: (loss: OutboxLoss) => void;
}

export class Outbox {
  readonly #dir: string;
  readonly #bytesMax: number;
  readonly #segmentBytesMax: number;
  #segment: number;
  /** Undefined while the disk refuses to open a segment; the next write tries again. */
  #fd: number | undefined;
  #offset = 0;
  #cursor: OutboxPosition;
  #cursorSaved: OutboxPosition;
  readonly #open = new OpenAttempts();
  /** By their keys. */
  readonly #notes = new Map<string, { segment: number; text: string }>();
  readonly #sizes = new Map<number, number>();
  #bytes = 0;
  readonly #pending = new PendingEntries();
  #pendingFlush:
    | {
        promise: Promise<void>;
        /** The same, whatever becomes of it. */
        settled: Promise<void>;
        /** Attempts that are not made should it fail. */
        begun: Buffer[];
        resolve: () => void;
        reject: (error: unknown) => void;
        hasRecords: boolean;
      }
    | undefined;
  readonly #flushSoon = () => {
    try {
      this.flush();
    } catch {
      // Whoever waits for the write has been told by its promise.
    }
  };
  #retry: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #reader: SegmentReader;
  readonly #onLoss: (loss: OutboxLoss) => void;

  constructor({ dir, bytesMax, onLoss = () => {} }: OutboxOptions) {
    this.#dir = dir;
    this.#bytesMax = bytesMax;
    this.#segmentBytesMax = Math.min(segmentBytesMax, Math.ceil(bytesMax / segmentsMin));
    this.#onLoss = onLoss;
    this.#reader = new SegmentReader(dir, onLoss);
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const existing = this.#segments();
    for (const number of existing) {
      const size = statSync(segmentPath(this.#dir, number)).size;
      this.#sizes.set(number, size);
      this.#bytes += size;
    }
    const first = existing[0];
    this.#cursor = this.#loadCursor() ?? { segment: first ?? 1, offset: 0 };
    if (first !== undefined && this.#cursor.segment < first)
      this.#cursor = { segment: first, offset: 0 };
    this.#cursorSaved = this.#cursor;
    // Never append to a file whose tail may be torn: a new segment each start.
    this.#segment = Math.max(existing.at(-1) ?? 0, this.#cursor.segment) + 1;
    this.#fd = openSync(segmentPath(this.#dir, this.#segment), 'a', 0o600);
    this.#sizes.set(this.#segment, 0);
  }

  /** Bytes on disk not yet acknowledged (whole segments). */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /**
   * Whether attempts must be refused because the ledger has been away for too long, or
   * because the disk refuses: what waits in memory then is to fit on it once it has room.
   */
  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax || this.#pending.refusedBytes > 0;
  }

  get attemptsUnderWay(): number {
    return this.#open.size;
  }

  /**
   * Notes that an attempt starts; resolves when that is written.
   * @throws OutboxFullError when the ledger has been away for too long; the request must be refused.
   */
  begin(id: Buffer, payload: Uint8Array, note?: OutboxNote): Promise<void> {
    if (this.isFull) throw new OutboxFullError('the outbox is full');
    if (payload.length > payloadBytesMax) return tooLarge(payload);
    if (note !== undefined) this.#note(note, id);
    // The encoder reuses its buffer; what must outlive this call is copied.
    this.#open.add(id, this.#segment, Buffer.from(payload));
    const written = this.#append(kindBegin, id, payload);
    this.#pendingFlush?.begun.push(id);
    return written;
  }

  /** Takes the record of an attempt, whether or not its begin was written; resolves when it is stored. */
  end(id: Buffer, payload: Uint8Array, note?: OutboxNote): Promise<void> {
    if (note !== undefined) this.#note(note, id);
    this.#open.delete(id);
    return this.#append(kindAttempt, id, payload);
  }

  /** The same wait for what `end` or `add` has just returned, for who goes on either way: it never rejects. */
  settled(stored: Promise<void>): Promise<void> {
    const flush = this.#pendingFlush;
    return flush?.promise === stored ? flush.settled : stored.catch(() => {});
  }

  /** Takes an entry of a kind that nothing begins; resolves when it is stored. */
  add(kind: EntryKind, id: Buffer, payload: Uint8Array): Promise<void> {
    return this.#append(kind, id, payload);
  }

  /** Takes a note that belongs to no entry. */
  keep(note: OutboxNote): void {
    this.#note(note, noId);
  }

  /** What was noted under the key needs no more to be known. */
  forget(key: string): void {
    this.#notes.delete(key);
  }

  /** Writes what has been taken so far, now. For those who cannot wait for the end of the turn. */
  flush(): void {
    const flush = this.#pendingFlush;
    const total = this.#pending.bytes;
    if (total === 0) return;
    this.#pendingFlush = undefined;
    try {
      this.#fd ??= openSync(segmentPath(this.#dir, this.#segment), 'a', 0o600);
      this.#pending.writeTo(this.#fd);
    } catch (error) {
      const fd = this.#fd;
      const dropped = this.#pending.keepRecords();
      if (dropped.records > 0) this.#onLoss({ kind: 'refused', ...dropped });
      if (fd !== undefined) this.#takeBack(fd);
      this.#retryLater();
      // An attempt that could not be noted is not made, and is not under way.
      for (const id of flush?.begun ?? []) this.#open.delete(id);
      flush?.reject(error);
      throw error;
    }
    this.#offset += total;
    this.#bytes += total;
    this.#sizes.set(this.#segment, this.#offset);
    if (this.#offset >= this.#segmentBytesMax) this.#rotate();
    flush?.resolve();
    if (flush?.hasRecords !== false) for (const listener of this.#listeners) listener();
  }

  /** What was half written would stand on a full disk for good, and so would what was sent of its segment. */
  #takeBack(fd: number): void {
    let isTorn = false;
    try {
      ftruncateSync(fd, this.#offset);
    } catch {
      isTorn = true;
    }
    // A torn tail ends a segment for every reader.
    if (isTorn || this.#offset > 0) this.#rotate();
    this.#dropSent();
  }

  /** The next entry may be long in coming, and what waits for it is in memory only. */
  #retryLater(): void {
    if (this.#pending.refusedBytes === 0) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(this.#flushSoon, retryMs);
    this.#retry.unref();
  }

  /** Calls back after every stored record. */
  onRecord(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Attempts of former lives that began and never ended, and their notes. To be
   * called once, before the first request; `finish` turns a begin payload into
   * the record to store.
   */
  recover(finish: (beginPayload: Buffer) => Uint8Array): number {
    const begun = new Map<string, Buffer>();
    for (const segment of this.#segments()) {
      if (segment === this.#segment) continue;
      const bytes = readFileSync(segmentPath(this.#dir, segment));
      let at: number | undefined = 0;
      while (at !== undefined) {
        let noted: { id: string; payload: Buffer } | undefined;
        for (const entry of entriesOf(bytes, at)) {
          at = entry.end;
          const id = entry.id.toString('latin1');
          if (entry.kind === kindNote) {
            noted = { id, payload: entry.payload };
            if (!entry.id.equals(noId)) continue;
          } else if (entry.kind === kindBegin) begun.set(id, Buffer.from(entry.payload));
          else if (entry.kind === kindAttempt) begun.delete(id);
          if (noted?.id === id) this.#recall(noted.payload, segment);
          noted = undefined;
        }
        at = this.#reader.afterDamage(segment, at, bytes);
      }
    }
    for (const [id, payload] of begun)
      void this.#append(kindAttempt, Buffer.from(id, 'latin1'), finish(payload));
    this.flush();
    return begun.size;
  }

  /** After `recover`: notes of former lives, also such as were forgotten by these. */
  recalled(): (readonly [key: string, text: string])[] {
    return Array.from(this.#notes, ([key, { text }]) => [key, text] as const);
  }

  /**
   * The next records to send, or undefined when all are sent. Reading does not move the cursor,
   * save behind what is never sent: begins of streams that are open would be read again for as
   * long as they are, and `hasMore` would say that something is left.
   */
  read(recordsMax: number, from: OutboxPosition = this.#cursor): OutboxBatch | undefined {
    let position = from;
    for (;;) {
      const size = this.#sizes.get(position.segment) ?? 0;
      if (position.offset >= size) {
        if (position.segment >= this.#segment) {
          if (from === this.#cursor) this.#cursor = position;
          return undefined;
        }
        position = { segment: this.#following(position.segment), offset: 0 };
        continue;
      }
      const { offset, ...batch } = this.#reader.read(position, size, recordsMax);
      // What is still written to may go on there later.
      if (offset === undefined && position.segment >= this.#segment) return undefined;
      const next =
        offset === undefined
          ? { segment: this.#following(position.segment), offset: 0 }
          : { segment: position.segment, offset };
      if (batch.records.length > 0) return { ...batch, from: position, next };
      position = next;
    }
  }

  /** Behind what was written so far. */
  get head(): OutboxPosition {
    return { segment: this.#segment, offset: this.#offset };
  }

  /** Whether anything may be left to send. Cheap: looks at positions only. */
  get hasMore(): boolean {
    return this.#cursor.segment < this.#segment || this.#cursor.offset < this.#offset;
  }

  /** Everything before `position` is in the ledger. Segments of which all is are deleted. */
  acknowledge(position: OutboxPosition): void {
    this.#cursor = position;
    this.#dropSent();
  }

  /** What is written to keeps its segment, however much of it was sent. */
  #dropSent(): void {
    let { segment, offset } = this.#cursor;
    while (segment < this.#segment && offset >= (this.#sizes.get(segment) ?? 0)) {
      segment = this.#following(segment);
      offset = 0;
    }
    this.#cursor = { segment, offset };
    for (const number of [...this.#sizes.keys()].sort((a, b) => a - b)) {
      if (number >= segment || number === this.#segment) break;
      this.#drop(number);
    }
  }

  /**
   * A segment may only go when no attempt that is still under way has its begin
   * there, and no note that is to be known: such ones are written again before,
   * or right after where there is no room before.
   */
  #drop(number: number): void {
    const attempts = this.#open.in(number);
    const notes = [...this.#notes].filter(([, { segment }]) => segment === number);
    const writeAgain = (): boolean => {
      for (const [key, { text }] of notes) this.#note({ key, text }, noId);
      for (const begun of attempts) {
        begun.segment = this.#segment;
        void this.#append(kindBegin, begun.id, begun.payload);
      }
      try {
        this.flush();
        return true;
      } catch {
        return false;
      }
    };
    const isSafe = (attempts.length === 0 && notes.length === 0) || writeAgain();
    this.#reader.remove(number);
    this.#bytes -= this.#sizes.get(number) ?? 0;
    this.#sizes.delete(number);
    if (!isSafe) writeAgain();
  }

  /** Writes the cursor down; called now and then and on close. At worst records are sent again and stored once. */
  saveCursor(): void {
    if (
      this.#cursorSaved.segment === this.#cursor.segment &&
      this.#cursorSaved.offset === this.#cursor.offset
    )
      return;
    const path = join(this.#dir, 'cursor.json');
    writeFileSync(`${path}.tmp`, JSON.stringify(this.#cursor), { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
    this.#cursorSaved = this.#cursor;
  }

  close(): void {
    try {
      this.flush();
      this.saveCursor();
    } finally {
      clearTimeout(this.#retry);
      this.#reader.close();
      if (this.#fd !== undefined) {
        fsyncSync(this.#fd);
        closeSync(this.#fd);
      }
    }
  }

  #append(kind: number, id: Buffer, payload: Uint8Array): Promise<void> {
    // Readers take what is longer for damage, and would give up all that follows it.
    if (payload.length > payloadBytesMax) return tooLarge(payload);
    this.#pending.push(kind, id, payload);
    if (this.#pendingFlush === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      // A failed write is told to those who wait; nobody waiting is no reason to end the process.
      const settled = promise.catch(() => {});
      const hasRecords = this.#pending.refusedBytes > 0;
      this.#pendingFlush = { promise, settled, begun: [], resolve, reject, hasRecords };
      setImmediate(this.#flushSoon);
    }
    if (!isOwn(kind)) this.#pendingFlush.hasRecords = true;
    return this.#pendingFlush.promise;
  }

  #note({ key, text }: OutboxNote, id: Buffer): void {
    this.#notes.set(key, { segment: this.#segment, text });
    void this.#append(kindNote, id, Buffer.from(`${key}\n${text}`));
  }

  #recall(payload: Buffer, segment: number): void {
    const text = payload.toString();
    const end = text.indexOf('\n');
    this.#notes.set(text.slice(0, end), { segment, text: text.slice(end + 1) });
  }

  /** Never throws: what cannot be opened now is opened by the next write. */
  #rotate(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    this.#segment++;
    this.#offset = 0;
    this.#sizes.set(this.#segment, 0);
    try {
      if (fd !== undefined) closeSync(fd);
      this.#fd = openSync(segmentPath(this.#dir, this.#segment), 'a', 0o600);
    } catch {
      // Too many open files, a full disk: told to whoever waits for the next write.
    }
  }

  #following(segment: number): number {
    let next = segment + 1;
    while (next < this.#segment && !this.#sizes.has(next)) next++;
    return next;
  }

  #segments(): number[] {
    return readdirSync(this.#dir)
      .flatMap((name) => (/^\d+\.log$/.test(name) ? [Number.parseInt(name, 10)] : []))
      .sort((a, b) => a - b);
  }

  #loadCursor(): OutboxPosition | undefined {
    try {
      const value = JSON.parse(
        readFileSync(join(this.#dir, 'cursor.json'), 'utf8'),
      ) as Partial<OutboxPosition>;
      return Number.isInteger(value.segment) && Number.isInteger(value.offset)
        ? (value as OutboxPosition)
        : undefined;
    } catch {
      // No cursor, or a damaged one: everything still here is sent again, and stored once.
      return undefined;
    }
  }
}

function tooLarge(payload: Uint8Array): Promise<never> {
  return Promise.reject(new Error(`a record of ${payload.length} bytes is too large`));
}
