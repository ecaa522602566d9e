import { randomFillSync } from 'node:crypto';

/** Random bytes are drawn in bulk: one draw an id would be a system call each. */
const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

/** The latest millisecond of which an id was made, and the 12 bits after it in the last of these. */
let latestMs = 0;
let place = 0;

/**
 * A UUIDv7 as 16 bytes: 48 bits of Unix ms, 12 that grow with each id of the latest millisecond, then random.
 * So ids are in the order in which they were made, in one process and but for those of a time that is past:
 * the ledger tells by them which target of a request was asked first.
 */
export function uuidV7(nowMs: number): Buffer {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = Buffer.allocUnsafe(16);
  id.writeUIntBE(nowMs, 0, 6);
  // Not `copy`: for so few bytes the way into C++ is the longer part.
  for (let at = 6; at < 16; at++) id[at] = pool[used + at - 6] as number;
  used += 10;
  // Half of them are left to grow into.
  let after = id.readUInt16BE(6) & 0x07ff;
  if (nowMs === latestMs) after = (place + 1) & 0x0fff;
  if (nowMs >= latestMs) {
    latestMs = nowMs;
    place = after;
  }
  id.writeUInt16BE(0x7000 | after, 6);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}

/** When a UUIDv7 was made, Unix ms. */
export function uuidTimeMs(id: Buffer): number {
  return id.readUIntBE(0, 6);
}
