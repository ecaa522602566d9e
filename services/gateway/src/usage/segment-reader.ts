import { closeSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { encodeEntry } from '@sluice/usage';
import {
  entriesOf,
  entryBytesMax,
  findEntryAfterDamage,
  headerBytes,
  isOwn,
  kindAttempt,
} from './outbox-entries.ts';
import { uuidTimeMs } from './uuid.ts';

const readBytes = 256 * 1024;
/** Segments with damage that are kept. */
const damagedFilesMax = 10;

export interface OutboxPosition {
  segment: number;
  offset: number;
}

/** What is lost for good, told once. */
export type OutboxLoss =
  /** Bytes of a segment that are no whole entries; the file is kept in `damaged/`. */
  | { kind: 'damage'; segment: number; from: number; to: number }
  /** Records that the disk refused and memory had no room for. */
  | { kind: 'refused'; records: number; bytes: number };

export interface SegmentPart {
  /** Entries as they travel; valid until the next `read`, which uses the same memory. */
  records: Uint8Array[];
  /** Unix ms of the first of them; 0 = it says none. */
  firstAtMs: number;
  /** Where to read on; undefined = nothing behind it can be read. */
  offset: number | undefined;
}

export function segmentPath(dir: string, segment: number): string {
  return join(dir, `${String(segment).padStart(10, '0')}.log`);
}

/** Reads the segments of an outbox, passes over what is damaged, and keeps such files for who wants to look. */
export class SegmentReader {
  readonly #dir: string;
  readonly #onLoss: (loss: OutboxLoss) => void;
  /** Kept, because a fresh one a batch leaves the process's memory in pieces. */
  #buffer = Buffer.allocUnsafe(readBytes);
  #open: { segment: number; fd: number } | undefined;
  /** Damage that has been told, by where it begins in each segment. */
  readonly #damage = new Map<number, Set<number>>();

  constructor(dir: string, onLoss: (loss: OutboxLoss) => void) {
    this.#dir = dir;
    this.#onLoss = onLoss;
  }

  /** Entries from a position on, in a segment of `size` bytes. */
  read({ segment, offset }: OutboxPosition, size: number, recordsMax: number): SegmentPart {
    const length = Math.min(size - offset, readBytes);
    let bytes = this.#bytesAt(segment, offset, length);
    if (bytes.length >= 4) {
      const needed = headerBytes + bytes.readUInt32LE(0);
      if (needed > bytes.length && needed <= entryBytesMax && offset + needed <= size)
        bytes = this.#bytesAt(segment, offset, needed);
    }
    const records: Uint8Array[] = [];
    let consumed = 0;
    let firstAtMs = 0;
    for (const entry of entriesOf(bytes)) {
      consumed = entry.end;
      if (firstAtMs === 0 && entry.kind === kindAttempt) firstAtMs = uuidTimeMs(entry.id);
      if (!isOwn(entry.kind)) records.push(encodeEntry(entry.kind, entry.payload));
      if (records.length >= recordsMax) break;
    }
    if (consumed > 0) return { records, firstAtMs, offset: offset + consumed };
    const rest = this.#bytesAt(segment, offset, size - offset);
    const found = this.afterDamage(segment, 0, rest, offset);
    return { records, firstAtMs, offset: found === undefined ? undefined : offset + found };
  }

  /**
   * Where entries go on in the bytes of a segment after `at`, where none can be read;
   * undefined = nowhere. `bytes` begin at `offset`. An end that was cut while it was
   * written is no damage: nobody was told that it is stored.
   */
  afterDamage(segment: number, at: number, bytes: Buffer, offset = 0): number | undefined {
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

  /** Deletes a segment that is sent, or sets it aside where something of it was lost. */
  remove(segment: number): void {
    // Its room is free only once nobody has it open.
    if (this.#open?.segment === segment) this.close();
    if (this.#damage.delete(segment)) this.#setAside(segment);
    rmSync(segmentPath(this.#dir, segment), { force: true });
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.fd);
    this.#open = undefined;
  }

  /** For who wants to look at what could not be read. The oldest make room. */
  #setAside(segment: number): void {
    const folder = join(this.#dir, 'damaged');
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const kept = readdirSync(folder).sort();
      for (const name of kept.slice(0, Math.max(0, kept.length + 1 - damagedFilesMax)))
        rmSync(join(folder, name), { force: true });
      renameSync(segmentPath(this.#dir, segment), segmentPath(folder, segment));
    } catch {
      // What it lost was told when it was read.
    }
  }

  #bytesAt(segment: number, offset: number, length: number): Buffer {
    if (this.#open?.segment !== segment) {
      if (this.#open !== undefined) closeSync(this.#open.fd);
      this.#open = {
        segment,
        fd: openSync(segmentPath(this.#dir, segment), 'r'),
      };
    }
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(length);
    const read = readSync(this.#open.fd, this.#buffer, 0, length, offset);
    return this.#buffer.subarray(0, read);
  }
}
