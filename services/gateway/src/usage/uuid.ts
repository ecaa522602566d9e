import { randomFillSync } from 'node:crypto';

/** Random bytes are drawn in bulk: one draw an id would be a system call each. */
const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

/** A UUIDv7 as 16 bytes: 48 bits of Unix ms, then random. */
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
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}

/** When a UUIDv7 was made, Unix ms. */
export function uuidTimeMs(id: Buffer): number {
  return id.readUIntBE(0, 6);
}
