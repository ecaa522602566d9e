import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { entriesOf, headerBytes, isOwn, kindBegin, kindNote, noId } from './outbox-entries.ts';

/** Records kept in memory while the disk refuses them. */
const refusedBytesMax = 16 * 1024 * 1024;

/** Entries that are not written yet, as bytes in the order in which they came. */
export class PendingEntries {
  #buffer = Buffer.allocUnsafe(256 * 1024);
  #bytes = 0;
  #refusedBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Of records at the front that the disk has refused before. */
  get refusedBytes(): number {
    return this.#refusedBytes;
  }

  push(kind: number, id: Buffer, payload: Uint8Array): void {
    const start = this.#bytes;
    const end = start + headerBytes + payload.length;
    if (end > this.#buffer.length) this.#grow(end);
    const buffer = this.#buffer;
    buffer.writeUInt32LE(payload.length, start);
    buffer[start + 8] = kind;
    buffer.set(id, start + 9);
    buffer.set(payload, start + headerBytes);
    buffer.writeUInt32LE(crc32(buffer.subarray(start + 8, end)), start + 4);
    this.#bytes = end;
  }

  /**
   * Empty afterwards.
   * @throws what the disk says; all entries are still here, whatever of them was written
   */
  writeTo(fd: number): void {
    let written = 0;
    while (written < this.#bytes)
      written += writeSync(fd, this.#buffer, written, this.#bytes - written);
    this.#bytes = 0;
    this.#refusedBytes = 0;
  }

  /**
   * What the disk has refused waits for the next write: records and their notes, not begins,
   * since their attempts are not made. What there is no room for is dropped and told.
   */
  keepRecords(): { records: number; bytes: number } {
    let used = 0;
    const dropped = { records: 0, bytes: 0 };
    let noteStart: number | undefined;
    for (const entry of entriesOf(this.#buffer.subarray(0, this.#bytes))) {
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
        dropped.records += isOwn(entry.kind) ? 0 : 1;
        dropped.bytes += entry.end - start;
        continue;
      }
      this.#buffer.copyWithin(used, start, entry.end);
      used += entry.end - start;
    }
    this.#bytes = used;
    this.#refusedBytes = used;
    return dropped;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(bytes * 2);
    this.#buffer.copy(larger, 0, 0, this.#bytes);
    this.#buffer = larger;
  }
}
