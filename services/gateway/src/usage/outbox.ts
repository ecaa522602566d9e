import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { usage } from '@sluice/proto-stubs';
import { type EntryKind, encodeEntry } from '@sluice/usage';
import {
  type Entry,
  entriesOf,
  entryBytesMax,
  findEntryAfterDamage,
  headerBytes,
} from './outbox-entries.ts';
import { uuidTimeMs } from './uuid.ts';

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

const kindBegin = 1;
const kindNote = 255;
/** Of a note that belongs to no entry. */
const noId = Buffer.alloc(16);
const kindAttempt = usage.EntryKind.ATTEMPT;
const segmentBytesMax = 8 * 1024 * 1024;
/** A small outbox has that many segments at least: one that is written to keeps its room although it was sent. */
const segmentsMin = 16;
const payloadBytesMax = entryBytesMax - headerBytes;
const readBytes = 256 * 1024;
/** Records kept in memory while the disk refuses them. */
const refusedBytesMax = 16 * 1024 * 1024;
/** How long those wait where nothing else is to be written. */
const retryMs = 1000;
/** Segments with damage that are kept. */
const damagedFilesMax = 10;

export interface OutboxPosition {
  segment: number;
  offset: number;
}

export interface OutboxBatch {
  /** Entries as they travel; valid until the next `read`, which uses the same memory. */
  records: Uint8Array[];
  from: OutboxPosition;
  next: OutboxPosition;
  /** Unix ms of the first of them; 0 = it says none. */
  firstAtMs: number;
}

/** What another life of this gateway is to know, should this one end before it is forgotten. */
export interface OutboxNote {
  /** A later note of the same key stands in place of this one. */
  readonly key: string;
  readonly text: string;
}

export class OutboxFullError extends Error {}

/** What is lost for good, told once. */
export type OutboxLoss =
  /** Bytes of a segment that are no whole entries; the file is kept in `damaged/`. */
  | { kind: 'damage'; segment: number; from: number; to: number }
  /** Records that the disk refused and memory had no room for. */
  | { kind: 'refused'; records: number; bytes: number };

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
  /** Attempts under way: id (latin1) to the payload of their begin entry. */
  readonly #open = new Map<string, { segment: number; payload: Buffer }>();
  /** By their keys. */
  readonly #notes = new Map<string, { segment: number; text: string }>();
  readonly #sizes = new Map<number, number>();
  #bytes = 0;
  /** Entries of this turn, not yet written. */
  #pending = Buffer.allocUnsafe(256 * 1024);
  #pendingBytesUsed = 0;
  /** Records at the front of `pending` that the disk has refused before. */
  #refusedBytes = 0;
  #pendingFlush:
    | {
        promise: Promise<void>;
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
  /** Kept, because a fresh one a batch leaves the process's memory in pieces. */
  #readBuffer = Buffer.allocUnsafe(readBytes);
  #readDescriptor: { segment: number; fd: number } | undefined;

  readonly #onLoss: (loss: OutboxLoss) => void;
  /** Damage that has been told, by where it begins in each segment. */
  readonly #damage = new Map<number, Set<number>>();

  constructor({ dir, bytesMax, onLoss = () => {} }: OutboxOptions) {
    this.#dir = dir;
    this.#bytesMax = bytesMax;
    this.#segmentBytesMax = Math.min(segmentBytesMax, Math.ceil(bytesMax / segmentsMin));
    this.#onLoss = onLoss;
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const existing = this.#segments();
    for (const number of existing) {
      const size = statSync(this.#path(number)).size;
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
    this.#fd = openSync(this.#path(this.#segment), 'a', 0o600);
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
    return this.#bytes >= this.#bytesMax || this.#refusedBytes > 0;
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
    if (note !== undefined) this.#note(note, id);
    const name = id.toString('latin1');
    // The encoder reuses its buffer; what must outlive this call is copied.
    this.#open.set(name, { segment: this.#segment, payload: Buffer.from(payload) });
    const written = this.#append(kindBegin, id, payload);
    // An attempt that could not be noted is not made, and is not under way.
    written.catch(() => this.#open.delete(name));
    return written;
  }

  /** Takes the record of an attempt, whether or not its begin was written; resolves when it is stored. */
  end(id: Buffer, payload: Uint8Array, note?: OutboxNote): Promise<void> {
    if (note !== undefined) this.#note(note, id);
    this.#open.delete(id.toString('latin1'));
    return this.#append(kindAttempt, id, payload);
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
    const total = this.#pendingBytesUsed;
    if (total === 0) return;
    this.#pendingFlush = undefined;
    this.#pendingBytesUsed = 0;
    try {
      this.#fd ??= openSync(this.#path(this.#segment), 'a', 0o600);
      let written = 0;
      while (written < total)
        written += writeSync(this.#fd, this.#pending, written, total - written);
    } catch (error) {
      const fd = this.#fd;
      this.#keepRecords(total);
      if (fd !== undefined) this.#takeBack(fd);
      this.#retryLater();
      flush?.reject(error);
      throw error;
    }
    this.#refusedBytes = 0;
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
    if (this.#refusedBytes === 0) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(this.#flushSoon, retryMs);
    this.#retry.unref();
  }

  /** Records the disk has refused are written with the next ones, and their notes; begins are not, since their attempts are not made. */
  #keepRecords(total: number): void {
    let used = 0;
    const dropped = { records: 0, bytes: 0 };
    let noteStart: number | undefined;
    for (const entry of entriesOf(this.#pending.subarray(0, total))) {
      const ownStart = entry.end - headerBytes - entry.payload.length;
      // A note goes with the entry behind it.
      if (entry.kind === kindNote && !entry.id.equals(noId)) {
        noteStart ??= ownStart;
        continue;
      }
      const start = noteStart ?? ownStart;
      noteStart = undefined;
      if (entry.kind === kindBegin) continue;
      if (used + entry.end - start > refusedBytesMax) {
        dropped.records += isOwn(entry) ? 0 : 1;
        dropped.bytes += entry.end - start;
        continue;
      }
      this.#pending.copyWithin(used, start, entry.end);
      used += entry.end - start;
    }
    this.#pendingBytesUsed = used;
    this.#refusedBytes = used;
    if (dropped.records > 0) this.#onLoss({ kind: 'refused', ...dropped });
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
      const bytes = readFileSync(this.#path(segment));
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
        at = this.#afterDamage(segment, at, bytes);
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

  /** The next records to send, or undefined when all are sent. Reading does not move the cursor. */
  read(recordsMax: number, from: OutboxPosition = this.#cursor): OutboxBatch | undefined {
    let position = from;
    for (;;) {
      const size = this.#sizes.get(position.segment) ?? 0;
      if (position.offset >= size) {
        if (position.segment >= this.#segment) return undefined;
        position = { segment: this.#following(position.segment), offset: 0 };
        continue;
      }
      const batch = this.#readFrom(position, size, recordsMax);
      if (batch.records.length > 0) return { ...batch, from: position };
      if (batch.next.segment === position.segment && batch.next.offset === position.offset)
        return undefined;
      position = batch.next;
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
    const attempts = [...this.#open].filter(([, { segment }]) => segment === number);
    const notes = [...this.#notes].filter(([, { segment }]) => segment === number);
    const writeAgain = (): boolean => {
      for (const [key, { text }] of notes) this.#note({ key, text }, noId);
      for (const [id, begun] of attempts) {
        begun.segment = this.#segment;
        void this.#append(kindBegin, Buffer.from(id, 'latin1'), begun.payload);
      }
      try {
        this.flush();
        return true;
      } catch {
        return false;
      }
    };
    const isSafe = (attempts.length === 0 && notes.length === 0) || writeAgain();
    // Its room is free only once nobody has it open.
    if (this.#readDescriptor?.segment === number) {
      closeSync(this.#readDescriptor.fd);
      this.#readDescriptor = undefined;
    }
    if (this.#damage.delete(number)) this.#setAside(number);
    rmSync(this.#path(number), { force: true });
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
      if (this.#readDescriptor !== undefined) closeSync(this.#readDescriptor.fd);
      if (this.#fd !== undefined) {
        fsyncSync(this.#fd);
        closeSync(this.#fd);
      }
    }
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

  #append(kind: number, id: Buffer, payload: Uint8Array): Promise<void> {
    // Readers take what is longer for damage, and would give up all that follows it.
    if (payload.length > payloadBytesMax)
      return Promise.reject(new Error(`a record of ${payload.length} bytes is too large`));
    const start = this.#pendingBytesUsed;
    const end = start + headerBytes + payload.length;
    if (end > this.#pending.length) this.#growPending(end);
    const pending = this.#pending;
    pending.writeUInt32LE(payload.length, start);
    pending[start + 8] = kind;
    pending.set(id, start + 9);
    pending.set(payload, start + headerBytes);
    pending.writeUInt32LE(crc32(pending.subarray(start + 8, end)), start + 4);
    this.#pendingBytesUsed = end;
    if (this.#pendingFlush === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      // A failed write is told to those who wait; nobody waiting is no reason to end the process.
      promise.catch(() => {});
      this.#pendingFlush = { promise, resolve, reject, hasRecords: this.#refusedBytes > 0 };
      setImmediate(this.#flushSoon);
    }
    if (kind !== kindBegin && kind !== kindNote) this.#pendingFlush.hasRecords = true;
    return this.#pendingFlush.promise;
  }

  #growPending(bytes: number): void {
    const larger = Buffer.allocUnsafe(bytes * 2);
    this.#pending.copy(larger, 0, 0, this.#pendingBytesUsed);
    this.#pending = larger;
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
      this.#fd = openSync(this.#path(this.#segment), 'a', 0o600);
    } catch {
      // Too many open files, a full disk: told to whoever waits for the next write.
    }
  }

  #readFrom(position: OutboxPosition, size: number, recordsMax: number): Omit<OutboxBatch, 'from'> {
    const length = Math.min(size - position.offset, readBytes);
    let bytes = this.#readBytes(position, length);
    if (bytes.length >= 4) {
      const needed = headerBytes + bytes.readUInt32LE(0);
      if (needed > bytes.length && needed <= entryBytesMax && position.offset + needed <= size)
        bytes = this.#readBytes(position, needed);
    }
    const records: Uint8Array[] = [];
    let consumed = 0;
    let firstAtMs = 0;
    for (const entry of entriesOf(bytes)) {
      consumed = entry.end;
      if (firstAtMs === 0 && entry.kind === kindAttempt) firstAtMs = uuidTimeMs(entry.id);
      if (!isOwn(entry)) records.push(encodeEntry(entry.kind, entry.payload));
      if (records.length >= recordsMax) break;
    }
    if (consumed === 0) {
      const rest = this.#readBytes(position, size - position.offset);
      const offset = this.#afterDamage(position.segment, 0, rest, position.offset);
      if (offset !== undefined)
        return {
          records,
          next: { segment: position.segment, offset: position.offset + offset },
          firstAtMs,
        };
      return position.segment >= this.#segment
        ? { records, next: position, firstAtMs }
        : { records, next: { segment: this.#following(position.segment), offset: 0 }, firstAtMs };
    }
    const next = { segment: position.segment, offset: position.offset + consumed };
    return { records, next, firstAtMs };
  }

  /**
   * Where entries go on in the bytes of a segment after `at`, where none can be read;
   * undefined = nowhere. `bytes` begin at `offset`. An end that was cut while it was
   * written is no damage: nobody was told that it is stored.
   */
  #afterDamage(segment: number, at: number, bytes: Buffer, offset = 0): number | undefined {
    if (at >= bytes.length) return undefined;
    const found = findEntryAfterDamage(bytes.subarray(at));
    if (found === undefined && at + headerBytes > bytes.length) return undefined;
    if (found === undefined && at + headerBytes + bytes.readUInt32LE(at) > bytes.length)
      return undefined;
    const to = found === undefined ? bytes.length : at + found;
    const told = this.#damage.get(segment) ?? new Set<number>();
    if (!told.has(offset + at)) {
      this.#damage.set(segment, told.add(offset + at));
      this.#onLoss({ kind: 'damage', segment, from: offset + at, to: offset + to });
    }
    return found === undefined ? undefined : to;
  }

  /** For who wants to look at what could not be read. The oldest make room. */
  #setAside(segment: number): void {
    const folder = join(this.#dir, 'damaged');
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const kept = readdirSync(folder).sort();
      for (const name of kept.slice(0, Math.max(0, kept.length + 1 - damagedFilesMax)))
        rmSync(join(folder, name), { force: true });
      renameSync(this.#path(segment), join(folder, `${String(segment).padStart(10, '0')}.log`));
    } catch {
      // What it lost was told when it was read.
    }
  }

  #readBytes(position: OutboxPosition, length: number): Buffer {
    if (this.#readDescriptor?.segment !== position.segment) {
      if (this.#readDescriptor !== undefined) closeSync(this.#readDescriptor.fd);
      this.#readDescriptor = {
        segment: position.segment,
        fd: openSync(this.#path(position.segment), 'r'),
      };
    }
    if (length > this.#readBuffer.length) this.#readBuffer = Buffer.allocUnsafe(length);
    const read = readSync(this.#readDescriptor.fd, this.#readBuffer, 0, length, position.offset);
    return this.#readBuffer.subarray(0, read);
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

  #path(segment: number): string {
    return join(this.#dir, `${String(segment).padStart(10, '0')}.log`);
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

/** It never leaves the gateway. */
function isOwn({ kind }: Entry): boolean {
  return kind === kindBegin || kind === kindNote;
}
