import { crc32 } from 'node:zlib';
import { usage } from '@sluice/proto-stubs';

export const kindBegin = 1;
export const kindNote = 255;
export const kindAttempt = usage.EntryKind.ATTEMPT;
/** Of a note that belongs to no entry. */
export const noId = Buffer.alloc(16);

/** Whether entries of the kind never leave the gateway. */
export function isOwn(kind: number): boolean {
  return kind === kindBegin || kind === kindNote;
}

/** Of an entry in a segment: `[length u32][crc32 u32][kind u8][id 16]`, then its payload. */
export const headerBytes = 25;
export const entryBytesMax = 16 * 1024 * 1024;

export interface Entry {
  kind: number;
  id: Buffer;
  payload: Buffer;
  /** Where the next one begins. */
  end: number;
}

/** Whole, undamaged entries from `from` on; stops at the first that is not. */
export function* entriesOf(bytes: Buffer, from = 0): Generator<Entry> {
  let at = from;
  for (let entry = entryAt(bytes, at); entry !== undefined; entry = entryAt(bytes, at)) {
    yield entry;
    at = entry.end;
  }
}

function entryAt(bytes: Buffer, at: number): Entry | undefined {
  const end = endOf(bytes, at);
  if (end === undefined) return undefined;
  if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return undefined;
  return {
    kind: bytes[at + 8] ?? 0,
    id: bytes.subarray(at + 9, at + headerBytes),
    payload: bytes.subarray(at + headerBytes, end),
    end,
  };
}

/** As its length says, if that is within the bytes. */
function endOf(bytes: Buffer, at: number): number | undefined {
  if (at + headerBytes > bytes.length) return undefined;
  const end = at + headerBytes + bytes.readUInt32LE(at);
  return end > bytes.length ? undefined : end;
}

/**
 * Where entries go on after one that is damaged, in the bytes of a segment from
 * there to its end; undefined = nowhere. Where only its payload is damaged, the
 * next begins where its length says. Otherwise it is looked for: the record of an
 * attempt begins with the id that its header carries, which nothing else does by chance.
 */
export function findEntryAfterDamage(bytes: Buffer): number | undefined {
  const end = endOf(bytes, 0);
  if (end !== undefined && entryAt(bytes, end) !== undefined) return end;
  let bytesLeft = searchTimesMax * bytes.length;
  for (let at = 1; at + recordStartBytes <= bytes.length && bytesLeft > 0; at++) {
    if (!looksLikeRecord(bytes, at)) continue;
    const candidateEnd = endOf(bytes, at);
    if (candidateEnd === undefined || candidateEnd - at > entryBytesMax) continue;
    bytesLeft -= candidateEnd - at;
    if (entryAt(bytes, at) !== undefined) return at;
  }
  return undefined;
}

/** A header, the tag and length of field 1, and the id again. */
const recordStartBytes = headerBytes + 2 + 16;
/** What looks like entries is summed up to so many times the bytes, so that no content makes the search long. */
const searchTimesMax = 4;

function looksLikeRecord(bytes: Buffer, at: number): boolean {
  return (
    bytes[at + headerBytes] === 0x0a &&
    bytes[at + headerBytes + 1] === 0x10 &&
    bytes.compare(bytes, at + headerBytes + 2, at + recordStartBytes, at + 9, at + headerBytes) ===
      0
  );
}
